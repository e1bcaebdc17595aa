#if TLS
internal import Crypto
internal import Foundation
public import NIOSSL
public import PeerIdentity
internal import SwiftASN1
internal import X509

/// A key of this machine, and the certificate that carries it: self-signed (ECDSA P-256, X.509 v3), or read from a file where an authority made
/// it, with those of intermediate authorities.
///
/// The self-signed certificate has no practical end, so that a board without a clock is not locked out: RFC 5280 §4.1.2.5's 9999-12-31.
public struct MachineIdentity: Sendable {
    /// Why there is none; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people. Never a part of the key.
        public let description: String
    }

    /// What others know the key by.
    public let fingerprint: KeyFingerprint
    /// What the certificate says of itself: a claim (RFC 5280 §4.1.2.6, common name).
    public let label: String
    /// The certificate.
    public let certificate: NIOSSLCertificate
    /// The certificate, and those of intermediate authorities, in the order that TLS sends them (RFC 8446 §4.4.2).
    let chain: [NIOSSLCertificate]
    /// The key.
    let privateKey: NIOSSLPrivateKey
    /// Key and certificate as text; secret.
    let pem: String

    /// A new one.
    /// - Parameter label: cut to 64 characters, which is a common name's length (RFC 5280, appendix A.1).
    /// - Throws: `Failure` where no certificate can be made of the label.
    public init(label: String) throws(Failure) {
        let key = P256.Signing.PrivateKey()
        do {
            let name = try DistinguishedName { CommonName(String(label.prefix(64))) }
            let certificate = try Certificate(
                version: .v3,
                serialNumber: Certificate.SerialNumber(),
                publicKey: Certificate.PublicKey(key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: 0),
                notValidAfter: Date(timeIntervalSince1970: Self.endOfTime),
                issuer: name,
                subject: name,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth, .clientAuth])
                },
                issuerPrivateKey: Certificate.PrivateKey(key))
            try self.init(pem: key.pemRepresentation + "\n" + certificate.serializeAsPEM().pemString + "\n")
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "no certificate can be made: \(error)")
        }
    }

    /// Reads a key, its certificate, and those of intermediate authorities, if any: blocks of PEM (RFC 7468).
    /// - Throws: `Failure` where a key or a certificate is missing, or they do not belong together.
    public init(pem: String) throws(Failure) {
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem)
        } catch {
            throw Failure(description: "it has no private key")
        }
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)), let certificate = chain.first,
            let fingerprint = try? certificate.keyFingerprint
        else { throw Failure(description: "it has no certificate") }
        let both = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(privateKey))
        guard (try? NIOSSLContext(configuration: both)) != nil else {
            throw Failure(description: "its certificate is of another key")
        }
        self.certificate = certificate
        self.chain = chain
        self.fingerprint = fingerprint
        self.pem = pem
        label = (try? PeerCertificate(certificate).label) ?? ""
    }

    /// 9999-12-31T23:59:59Z, in seconds since 1970.
    private static let endOfTime: TimeInterval = 253_402_300_799
}

extension NIOSSLCertificate {
    /// SHA-256 of its key.
    var keyFingerprint: KeyFingerprint {
        get throws {
            guard let fingerprint = KeyFingerprint(SHA256.hash(data: try extractPublicKey().toSPKIBytes())) else {
                throw NIOSSLError.failedToLoadCertificate
            }
            return fingerprint
        }
    }
}
#endif
