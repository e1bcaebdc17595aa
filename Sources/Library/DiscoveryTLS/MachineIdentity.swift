#if TLS
internal import Crypto
internal import DiscoverySystem
internal import Foundation
internal import Libc
public import NIOSSL
public import PeerIdentity
internal import SwiftASN1
internal import X509

/// A key of this machine, and the certificate that carries it: self-signed (ECDSA P-256, X.509 v3), or read from a file where an authority made
/// it, with those of intermediate authorities.
///
/// The self-signed certificate has no practical end, so that a board without a clock is not locked out: RFC 5280 §4.1.2.5's 9999-12-31.
public struct MachineIdentity: Sendable {
    /// Why there is no identity, as the end of a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people. Never a part of the key.
        public let description: String
        /// The system had no room for a new one, and may have later.
        package var isPassing = false
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
        (self.certificate, self.chain, self.fingerprint, self.pem) = (certificate, chain, fingerprint, pem)
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

extension MachineIdentity {
    /// The file's name in a state directory, and of a credential of systemd.
    public static let fileName = "identity.pem"
    private static let longest = 64 * 1024
    /// A disk that is full or failing, or a machine without memory or descriptors.
    private static let passing: Set = [ENOSPC, EDQUOT, EIO, ENOMEM, ENFILE, EMFILE]

    /// This machine's identity, or this user's: made at first use, and kept in a file for its owner alone.
    ///
    /// Two processes that come first at once have the same one.
    /// - Parameters:
    ///   - directory: created if it does not exist.
    ///   - label: the name that a new identity has.
    /// - Throws: where the file is there and is none, others may read it, or it cannot be written.
    public init(directory: String, label: @autoclosure () -> String) throws(Failure) {
        let path = "\(directory)/\(Self.fileName)"
        if let kept = try Self.kept(path, isShared: false) {
            self = kept
            return
        }
        let new = try MachineIdentity(label: label())
        if let problem = SystemFile.makeDirectory(directory) {
            throw Failure(description: problem.description, isPassing: Self.passing.contains(problem.code))
        }
        do throws(SystemError) {
            try SystemFile.create(path, with: Array(new.pem.utf8))
            self = new
        } catch {
            guard error.code == EEXIST, let kept = try Self.kept(path, isShared: false) else {
                throw Failure(description: error.description, isPassing: Self.passing.contains(error.code))
            }
            self = kept
        }
    }

    /// The identity in a file that its group may read, such as a credential of systemd (systemd.exec(5), LoadCredential=).
    /// - Throws: where it cannot be read, others may read it, or it is none.
    public init(file path: String) throws(Failure) {
        guard let kept = try Self.kept(path, isShared: true) else {
            throw Failure(description: SystemError(ENOENT, path).description)
        }
        self = kept
    }

    private static func kept(_ path: String, isShared: Bool) throws(Failure) -> MachineIdentity? {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes =
                isShared
                ? try SystemFile.readPrivate(path, atMost: longest) : try SystemFile.readSecret(path, atMost: longest)
        } catch {
            switch error.code {
            case ENOENT: return nil
            case EPERM:
                let mode = isShared ? 640 : 600
                throw Failure(description: "\(path): others may read it, or own it: chmod \(mode) \(path)")
            default: throw Failure(description: error.description)
            }
        }
        do throws(Failure) {
            return try MachineIdentity(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw Failure(description: "\(path): \(error.description)")
        }
    }
}

/// Where the key of a machine, or of a user, and the keys that it knows are. `discoverd` and the programs share it.
public struct IdentityDirectory: Sendable {
    /// The path; the directory need not be there.
    public let path: String

    /// A directory.
    public init(path: String) { self.path = path }

    /// `$STATE_DIRECTORY`, else `/var/lib/discoverd-root` for root, and `$XDG_STATE_HOME/discoverd` or `~/.local/state/discoverd` for others.
    /// - Throws: where the environment names none.
    public init() throws(MachineIdentity.Failure) {
        guard let path = Environment.stateDirectory else {
            throw MachineIdentity.Failure(
                description: "there is no place for this machine's key: no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        self.path = path
    }

    /// The keys that are known.
    public var known: KnownPeersFile { KnownPeersFile(path: "\(path)/\(KnownPeersFile.name)").withHashes }

    /// The identity: a credential of systemd where the service has one, else the directory's, made at first use. It calls itself by the machine's
    /// name, and for users `anna@h1`.
    /// - Throws: where the file can be neither read nor made, or others may read it.
    public func identity() throws(MachineIdentity.Failure) -> MachineIdentity {
        if let credential { return try MachineIdentity(file: credential) }
        return try MachineIdentity(directory: path, label: Self.label)
    }

    /// The file of the identity; it need not be there.
    public var identityPath: String { credential ?? "\(path)/\(MachineIdentity.fileName)" }

    /// The credential of systemd, where the service has one.
    private var credential: String? {
        guard let credentials = Environment.directory("CREDENTIALS_DIRECTORY") else { return nil }
        let path = "\(credentials)/\(MachineIdentity.fileName)"
        return access(path, F_OK) == 0 || errno != ENOENT ? path : nil
    }

    private static var label: String {
        let host = Environment.hostLabel ?? "unnamed"
        return geteuid() == 0 ? host : "\(Accounts.userName(of: geteuid()) ?? String(geteuid()))@\(host)"
    }
}
#endif
