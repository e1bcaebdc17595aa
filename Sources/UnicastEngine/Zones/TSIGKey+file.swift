public import DNSSD
import Glibc
import System

extension TSIGKey {
    /// A larger file is none of a key.
    private static let maximumSize = 64 << 10

    /// Reads a key in the format of BIND's configuration (`tsig-keygen`, `nsupdate -k`).
    ///
    /// A name without a slash is one of systemd's credentials, where the process was given any (systemd.exec(5), `LoadCredential=`).
    /// - Throws: `.misconfigured` when there is no such file, others may read or write it, or it is not one key; never with its secret.
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
