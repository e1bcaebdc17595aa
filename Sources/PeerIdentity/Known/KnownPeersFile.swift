import Glibc
import System

/// The file of known peers. Several processes may use it at once: each change is made under a lock, and replaces the file whole.
public struct KnownPeersFile: Sendable {
    /// Why the file cannot be read or written; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String
    }

    /// The file's name in a state directory.
    public static let name = "known_peers"

    /// Where it is.
    public let path: String

    /// A file, which need not be there.
    public init(path: String) { self.path = path }

    /// What is known; nothing where there is no file.
    /// - Throws: where the file is there and cannot be read, is none, or others may write it.
    public func read() throws(Failure) -> KnownPeers {
        do throws(SystemError) {
            return KnownPeers(try SystemFile.readTrusted(path, atMost: KnownPeers.longest))
        } catch {
            if error.code == ENOENT { return KnownPeers() }
            if error.code == EPERM { throw Failure(description: "\(path): another user may write it") }
            throw Failure(description: error.description)
        }
    }

    /// Changes what is known; writes nothing where `body` throws or changes nothing. Blocks while another process changes it.
    /// - Throws: as `body`, or `Failure`.
    public func change<Result>(_ body: (inout KnownPeers) throws -> Result) throws -> Result {
        let lock = unsafe open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard lock >= 0 else { throw Failure(description: SystemError(errno, "\(path).lock").description) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(description: SystemError(errno, "\(path).lock").description) }
        }
        let before = try read()
        var known = before
        let result = try body(&known)
        guard known != before else { return result }
        let content = known.content
        guard content.count <= KnownPeers.longest else {
            throw Failure(description: "\(path): no room for more than \(KnownPeers.longest) bytes")
        }
        do throws(SystemError) {
            try SystemFile.replace(path, with: content)
        } catch {
            throw Failure(description: error.description)
        }
        return result
    }
}
