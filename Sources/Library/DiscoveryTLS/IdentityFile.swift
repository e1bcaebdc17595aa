#if TLS
internal import Libc
import PeerIdentity
internal import DiscoverySystem

extension MachineIdentity {
    /// The file's name in a state directory, and of a credential of systemd.
    public static let fileName = "identity.pem"
    private static let longest = 64 * 1024

    /// This machine's identity, or this user's: made at first use, and kept in a file for its owner alone.
    ///
    /// Two processes that come first at once have the same one.
    /// - Parameters:
    ///   - directory: is made if need be.
    ///   - label: the name that a new identity has.
    /// - Throws: where the file is there and is none, others may read it, or it cannot be written.
    public init(directory: String, label: @autoclosure () -> String) throws(Failure) {
        let path = "\(directory)/\(Self.fileName)"
        if let kept = try Self.kept(path, isShared: false) {
            self = kept
            return
        }
        let new = try MachineIdentity(label: label())
        if let problem = SystemFile.makeDirectory(directory) { throw Failure(description: problem.description) }
        do throws(SystemError) {
            try SystemFile.create(path, with: Array(new.pem.utf8))
            self = new
        } catch {
            guard error.code == EEXIST, let kept = try Self.kept(path, isShared: false) else {
                throw Failure(description: error.description)
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
            case EPERM: throw Failure(description: "\(path): others may read it, or own it")
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
#endif
