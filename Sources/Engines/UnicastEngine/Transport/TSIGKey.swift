package import DNSMessage
public import DNSSD
import DiscoverySystem
import Libc

/// A key that this machine shares with a DNS server (RFC 8945).
///
/// Its secret never appears in a description.
public struct TSIGKey: Hashable, Sendable {
    /// An algorithm for signatures (RFC 8945 §6).
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// HMAC-SHA-256, which every server supports.
        case sha256 = "hmac-sha256"
        /// HMAC-SHA-384.
        case sha384 = "hmac-sha384"
        /// HMAC-SHA-512.
        case sha512 = "hmac-sha512"
    }

    /// The key's name, by which the server knows it.
    package let name: DomainName
    /// The algorithm for signatures.
    public let algorithm: Algorithm
    /// The secret.
    package let secret: [UInt8]

    /// Creates a key.
    package init(name: DomainName, algorithm: Algorithm, secret: [UInt8]) {
        self.name = name
        self.algorithm = algorithm
        self.secret = secret
    }
}

extension TSIGKey: CustomStringConvertible {
    /// The key's name and algorithm; safe for a terminal.
    public var description: String { "\(name) (\(algorithm.rawValue))" }
}

extension TSIGKey: CustomReflectable {
    /// A mirror without the secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name.description, "algorithm": algorithm.rawValue])
    }
}

extension TSIGKey {
    /// The largest file that is read, in bytes.
    private static let maximumSize = 64 << 10

    /// Reads a key from a file in the format of BIND's configuration (`tsig-keygen`, `nsupdate -k`).
    /// - Parameter name: a path. Without a slash it names one of systemd's credentials, if the process has any
    ///   (systemd.exec(5), `LoadCredential=`).
    /// - Throws: `.misconfigured` if there is no such file, others than its owner and group may access it, or it is not
    ///   exactly one key. The message never contains the secret.
    public init(file name: String) throws(DiscoveryError) {
        var path = name
        if !name.contains("/"), let directory = Environment.directory("CREDENTIALS_DIRECTORY") {
            path = "\(directory)/\(name)"
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SystemFile.readPrivate(path, atMost: Self.maximumSize)
        } catch {
            let fault =
                switch error.code {
                case EPERM: "may be read or written by others than its owner and its group: chmod 640"
                case EINVAL: "is no regular file"
                case EFBIG: "is larger than 64 KiB"
                case ENOENT: "is not there"
                default: "cannot be read: \(SystemError.text(error.code))"
                }
            throw Self.misconfigured(path, fault)
        }
        do throws(TSIGKeyFile.Fault) {
            self = try TSIGKeyFile(parsing: bytes).key
        } catch {
            throw Self.misconfigured(path, error.text)
        }
    }

    private static func misconfigured(_ path: String, _ fault: String) -> DiscoveryError {
        DiscoveryError(.misconfigured, "the key file \(path.escapedForTerminal) \(fault)")
    }
}
