#if TLS
internal import NIOSSL
internal import PeerIdentity
internal import SwiftASN1
internal import X509

/// Judges a peer's chain of certificates, as RFC 5280 says, by authorities that are trusted.
struct CertificateAuthorities: Sendable {
    /// What a certificate is used for.
    enum Use: Sendable { case calling, answering }

    /// Why a chain is refused.
    enum Refusal: Error, Sendable {
        /// No authority vouches for it.
        case uncertified
        /// An authority vouches for other names.
        case misnamed
    }

    /// A longer chain is cut: what it costs to search it is bounded.
    private static let mostCertificates = 8

    private let authority: PeerAuthority
    private let roots: CertificateStore

    /// - Throws: where there is no certificate, or one makes no sense.
    init(_ authority: PeerAuthority) throws(PeerAuthority.Failure) {
        self.authority = authority
        do {
            let documents = try PEMDocument.parseMultiple(pemString: authority.certificates)
                .filter { $0.discriminator == Certificate.defaultPEMDiscriminator }
            guard !documents.isEmpty else { throw PeerAuthority.Failure("there is no certificate") }
            roots = CertificateStore(try documents.map { try Certificate(pemDocument: $0) })
        } catch let failure as PeerAuthority.Failure {
            throw failure
        } catch {
            throw PeerAuthority.Failure("a certificate makes no sense")
        }
    }

    /// Judges a peer that has proven, or will prove, to have the key of the chain's first certificate.
    /// - Parameters:
    ///   - name: the peer's name here.
    ///   - use: what the peer does.
    func refusal(of chain: [NIOSSLCertificate], as name: PeerName, _ use: Use) async -> Refusal? {
        guard
            let certificates = try? chain.prefix(Self.mostCertificates).map({
                try Certificate(derEncoded: $0.toDERBytes())
            }),
            let leaf = certificates.first, Self.permits(leaf, use)
        else { return .uncertified }
        var verifier = Verifier(rootCertificates: roots) { RFC5280Policy() }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(certificates.dropFirst()))
        guard case .validCertificate = result else { return .uncertified }
        return authority.admits(Self.names(of: leaf), as: name) ? nil : .misnamed
    }

    /// Whether a certificate may be used in TLS by a client or a server (RFC 5280 §4.2.1.12).
    private static func permits(_ certificate: Certificate, _ use: Use) -> Bool {
        do {
            guard let usage = try certificate.extensions.extendedKeyUsage else { return true }
            return usage.contains(.any) || usage.contains(use == .calling ? .clientAuth : .serverAuth)
        } catch {
            return false
        }
    }

    /// Its common names, and the DNS names of its subjectAltName.
    private static func names(of certificate: Certificate) -> [String] {
        let common = certificate.subject.flatMap { Array($0) }.filter { $0.type == .RDNAttributeType.commonName }
            .compactMap { String($0.value) }
        let alternatives = (try? certificate.extensions.subjectAlternativeNames) ?? nil
        return common
            + (alternatives ?? SubjectAlternativeNames()).compactMap {
                if case .dnsName(let name) = $0 { name } else { nil }
            }
    }
}
#endif
