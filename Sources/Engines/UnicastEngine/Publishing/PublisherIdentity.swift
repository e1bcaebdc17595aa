package import DNSMessage
import DiscoverySystem
import Libc

#if Unicast
import Crypto
#endif

/// The id under which this process publishes. It is kept for the next process, so that after a crash the same
/// registration has the same owner.
///
/// Each id is in a file that is locked while its process lives, so that two processes never share an id. The directory
/// and the file must belong to this user alone: who else could write there could make this process write to any file.
package final class PublisherIdentity: Sendable {
    private enum Keeping {
        /// No earlier process used the id.
        case new(lock: Int32)
        case known(lock: Int32)
        case not(reason: String)
    }

    /// The id.
    package let id: PublisherID
    private let keeping: Keeping

    /// The most processes of a user that can publish at once and keep their ids.
    private static let most = 256

    /// Takes the first id in a directory that no process uses, or creates one.
    /// - Parameter directory: created if it does not exist; nil if there is no place to keep the id.
    package init(directory: String?) {
        (id, keeping) = Self.take(directory)
    }

    deinit {
        switch keeping {
        case .new(let lock), .known(let lock): close(lock)
        case .not: break
        }
    }

    /// Whether an earlier process used the id.
    package var isKnown: Bool { if case .known = keeping { true } else { false } }
    /// Why the id cannot be kept, as the end of a sentence; nil if it is kept.
    package var reason: String? { if case .not(let reason) = keeping { reason } else { nil } }

    private static func take(_ path: String?) -> (PublisherID, Keeping) {
        func unkept(_ reason: String) -> (PublisherID, Keeping) { (PublisherID(), .not(reason: reason)) }
        guard let path else { return unkept("there is no directory for it") }
        _ = SystemFile.makeDirectory(path)
        let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return unkept(SystemError(errno, path).description) }
        defer { close(directory) }
        guard isOwn(directory) else { return unkept("\(path) is not this user's alone") }
        var hasWaited = false
        for number in 0..<most {
            let name = "publisher-\(number)"
            let file = SystemFile.openOwn(name, in: directory)
            // A link, or another user's file: the next one is as good.
            if file < 0, [EACCES, ELOOP, EISDIR, ENXIO].contains(errno) { continue }
            guard file >= 0 else { return unkept(SystemError(errno, "\(path)/\(name)").description) }
            guard isOwn(file, mustBeFile: true) else {
                close(file)
                continue
            }
            // After a process is killed, a program that it was starting may hold an id for a moment: a moment for all.
            let waits = kept(in: file) != nil && !hasWaited
            // Another process may hold the lock: the next file is as good.
            guard (waits ? SystemFile.lock(file) : flock(file, LOCK_EX | LOCK_NB)) == 0 else {
                hasWaited = hasWaited || waits
                close(file)
                continue
            }
            if let id = kept(in: file) { return (id, .known(lock: file)) }
            let id = PublisherID()
            let text = Array((id.text + "\n").utf8)
            guard ftruncate(file, 0) == 0, unsafe pwrite(file, text, text.count, 0) == text.count, fsync(file) == 0
            else {
                let problem = SystemError(errno, "\(path)/\(name)").description
                close(file)
                return unkept(problem)
            }
            return (id, .new(lock: file))
        }
        return unkept("\(most) processes have all ids in \(path)")
    }

    /// The ids that processes of this user keep, or have kept.
    static func kept(in path: String) -> [PublisherID] {
        let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return [] }
        defer { close(directory) }
        guard isOwn(directory) else { return [] }
        var ids: [PublisherID] = []
        for number in 0..<most {
            let file = unsafe openat(directory, "publisher-\(number)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            // They are made in order, and stay.
            if file < 0, errno == ENOENT { break }
            guard file >= 0 else { continue }
            if isOwn(file, mustBeFile: true), let id = kept(in: file) { ids.append(id) }
            close(file)
        }
        return ids
    }

    private static func kept(in file: Int32) -> PublisherID? {
        var bytes = [UInt8](repeating: 0, count: 33)
        let count = unsafe pread(file, &bytes, bytes.count, 0)
        return count >= 32 ? PublisherID(bytes.prefix(32)) : nil
    }

    /// Whether it is this user's and nobody else may write there; a file has no other name besides, as a hard link would give it.
    private static func isOwn(_ descriptor: Int32, mustBeFile: Bool = false) -> Bool {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o022 == 0 else {
            return false
        }
        return !mustBeFile || (info.st_mode & S_IFMT == S_IFREG && info.st_nlink == 1)
    }
}

/// Identifies a publisher by 128 random bits. It is a label in the zone, and part of the digests that show ownership.
package struct PublisherID: Hashable, Sendable {
    /// The id as 32 hexadecimal digits in lower case.
    package let text: String

    /// Creates a random id.
    package init(using generator: inout some RandomNumberGenerator) {
        let digits = Array("0123456789abcdef".utf8)
        text = String(decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16, using: &generator)] }, as: UTF8.self)
    }

    /// Creates a random id.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// Reads an id from a file or a zone, where a server may have changed its case; nil for any other text.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32, let text = String(validating: bytes, as: UTF8.self)?.lowercased(),
            text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
        else { return nil }
        self.text = text
    }

    /// Returns the id under which this publisher publishes for another host; it is the same after a restart.
    package func derived(for host: String) -> PublisherID {
        #if Unicast
        var digest = SHA256.hash(data: Array(text.utf8) + [0] + Array(host.utf8)).makeIterator()
        return PublisherID(digest: (0..<16).compactMap { _ in digest.next() })
        #else
        return self
        #endif
    }

    private init(digest: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        text = String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }

    /// The shard of the index that lists the publisher: its first digit.
    package var shard: Int { text.utf8.first.map { Int($0 & 0xF) + ($0 >= 0x61 ? 9 : 0) } ?? 0 }

    /// Returns the data of the DHCID record that marks `name` as this publisher's (RFC 4701 §3.3): identifier type 2,
    /// digest type 1, and SHA-256 of the identifier and the name in lower case.
    package func ownership(of name: DomainName) -> RecordData {
        #if Unicast
        let canonical = name.wire.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        return .other([0, 2, 1] + SHA256.hash(data: Array(text.utf8) + canonical))
        #else
        // Nothing is published without the trait; this owns nothing.
        return .other([])
        #endif
    }
}
