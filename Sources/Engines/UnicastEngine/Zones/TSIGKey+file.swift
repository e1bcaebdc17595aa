public import DNSSD
import DiscoverySystem
import Libc

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
