import DiscoverySystem
import Libc

/// The file of known peers. Several processes may use it at once: each change is made under a lock, and replaces the file whole.
public struct KnownPeersFile: Sendable {
    /// Why the file cannot be read or written; ends a sentence.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String
    }

    /// The file's name in a state directory.
    public static let name = "known_peers"

    /// The name of the file with the key that each name had last.
    public static let lastKeysName = "last_keys"

    /// Where it is.
    public let path: String
    /// Finds and writes hashed names; nil: a file that has them is not changed.
    public var hmac: HashedName.HMAC?

    /// A file, which need not be there.
    public init(path: String, hmac: HashedName.HMAC? = nil) {
        self.path = path
        self.hmac = hmac
    }

    /// What is known; nothing where there is no file.
    /// - Throws: where the file is there and cannot be read, is none, others may write it, or a newer version has written it.
    public func read() throws(Failure) -> KnownPeers {
        let known = try content()
        guard known.format <= KnownPeers.format else {
            throw Failure(
                description: "\(path): it has a format of a newer discoverd; this one knows \(KnownPeers.format)")
        }
        return known
    }

    private func content() throws(Failure) -> KnownPeers {
        do throws(SystemError) {
            return KnownPeers(try SystemFile.readTrusted(path, atMost: KnownPeers.longest), hmac: hmac)
        } catch {
            switch error.code {
            // A link is there for a file: without it, whatever was known would count as new.
            case ENOENT where SystemFile.isLink(path): throw Failure(description: "\(path): a link to nothing")
            case ENOENT: return KnownPeers(hmac: hmac)
            case EPERM: throw Failure(description: "\(path): another user may write it")
            case EFBIG: throw Failure(description: "\(path): it is longer than \(KnownPeers.longest) bytes")
            default: throw Failure(description: error.description)
            }
        }
    }

    /// Changes what is known; writes nothing where `body` throws or changes nothing. Blocks while another process changes it. A symbolic link to
    /// a file stays: the file is replaced.
    /// - Throws: as `body`, or `Failure`.
    public func change<Result>(_ body: (inout KnownPeers) throws -> Result) throws -> Result {
        let target = SystemFile.real(path) ?? path
        var lock = SystemFile.openOwn("\(target).lock")
        // A machine whose key is a credential of systemd has made no directory for it.
        if lock < 0, errno == ENOENT, target.utf8.first == UInt8(ascii: "/"),
            let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        {
            if let error = SystemFile.makeDirectory(String(target[..<slash])) {
                throw Failure(description: error.description)
            }
            lock = SystemFile.openOwn("\(target).lock")
        }
        guard lock >= 0 else { throw Failure(description: SystemError(errno, "\(target).lock").description) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(description: SystemError(errno, "\(target).lock").description) }
        }
        let before = try read()
        if hmac == nil, before.isHashed { throw Failure(description: "\(path): its names are hashed") }
        var known = before
        let result = try body(&known)
        guard known != before else { return result }
        if before.content.isEmpty { known.begin() }
        let content = known.content
        guard content.count <= KnownPeers.longest else {
            throw Failure(description: "\(path): no room for more than \(KnownPeers.longest) bytes")
        }
        do throws(SystemError) {
            try SystemFile.replace(target, with: content)
        } catch {
            throw Failure(description: error.description)
        }
        return result
    }
}

/// Whether the key that a name had when it was last connected to is known.
public enum KeyState: String, Hashable, Sendable {
    /// It is the name's known key.
    case known
    /// No key of the name is known.
    case unknown
    /// The name's known key is another.
    case changed
}

extension KnownPeers {
    /// The most names whose last keys are kept.
    public static let mostLastKeys = 1000

    /// What is known of the key that a name had last.
    /// - Parameters:
    ///   - name: the name.
    ///   - last: the keys that names had last, of the file `KnownPeersFile.lastKeysName`.
    /// - Returns: nil for a name that was not connected to.
    public func state(of name: PeerName, lastKeys last: KnownPeers) -> KeyState? {
        guard let key = last.keys(of: name).last else { return nil }
        return switch verdict(on: key, of: name, .known) {
        case .known, .learned, .vouched: .known
        case .unknown: .unknown
        case .changed, .foreign: .changed
        }
    }
}
