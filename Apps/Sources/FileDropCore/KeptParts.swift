import Glibc
import Synchronization

/// Part of a file, left for a later attempt.
public struct KeptPart: Hashable, Sendable {
    let place: [[UInt8]]
    let name: [UInt8]
    let size: Int64
    /// Seconds since 1970.
    let changed: Int
}

/// The unfinished files in a folder that can be resumed: limited in age and in total size.
public final class KeptParts: Sendable {
    /// How long a transfer can be resumed: 7 days.
    public static let lifetime = 7 * 24 * 60 * 60
    /// Smaller parts are not worth resuming.
    public static let minimumSize: Int64 = 1 << 20
    /// The maximum number of parts. The smallest go first, so that driving out others' parts takes sending as much.
    public static let maximumCount = 64
    /// The maximum depth of folders to search.
    private static let maximumDepth = 32
    /// The maximum number of names to examine, so that a receiver with many files starts in time.
    private static let maximumNames = 100_000

    private let target: TargetFolder
    private let parts = Mutex<Set<KeptPart>>([])

    /// Finds the parts of earlier receivers in the folder and its subfolders, and removes those that are too old or too much.
    /// - Parameter now: seconds since 1970; nil for the current time.
    /// - Returns: the remaining parts, and how many were removed.
    public static func find(in target: TargetFolder, now: Int? = nil) -> (KeptParts, removed: Int) {
        let parts = KeptParts(target)
        var (names, found) = (0, Set<KeptPart>())
        search(target.place, 0, &names, &found)
        let all = found
        parts.parts.withLock { $0 = all }
        return (parts, parts.tidy(now: now))
    }

    private init(_ target: TargetFolder) { self.target = target }

    /// The limit for all parts together: half of what would be free without them.
    private func maximumBytes(_ parts: Set<KeptPart>) -> Int64 {
        let used = parts.reduce(Int64(0)) { $0.addingReportingOverflow($1.size).partialValue }
        let room = Int64(clamping: target.room ?? UInt64(Int64.max / 4))
        return room.addingReportingOverflow(max(0, used)).partialValue / 2
    }

    /// Keeps a file for a later attempt, if that is worthwhile.
    public func keep(_ file: IncomingFile) {
        guard file.count >= Self.minimumSize else { return file.discard() }
        let part = file.keep()
        parts.withLock { $0 = $0.filter { ($0.place, $0.name) != (part.place, part.name) }.union([part]) }
        tidy()
    }

    /// Removes parts that are too old or too much.
    /// - Returns: how many were removed.
    @discardableResult
    public func tidy(now: Int? = nil) -> Int {
        let deadline = (now ?? time(nil)) - Self.lifetime
        let unwanted = parts.withLock { parts in
            var unwanted = parts.filter { $0.changed < deadline }
            let limit = maximumBytes(parts)
            var (count, bytes) = (0, Int64(0))
            for part in parts.subtracting(unwanted).sorted(by: { $0.size > $1.size }) {
                guard count < Self.maximumCount, part.size <= limit - bytes else {
                    unwanted.insert(part)
                    continue
                }
                count += 1
                bytes += part.size
            }
            parts.subtract(unwanted)
            return unwanted
        }
        return unwanted.count { remove($0) }
    }

    private static func search(_ place: Place, _ depth: Int, _ names: inout Int, _ found: inout Set<KeptPart>) {
        var folders: [[UInt8]] = []
        place.descriptor.forEachName { name in
            names += 1
            var status = stat()
            if name.withCString({ fstatat(place.descriptor.number, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 {
                if status.isFile, isPart(name) {
                    found.insert(
                        KeptPart(
                            place: place.names, name: name, size: Int64(status.st_size), changed: status.st_mtim.tv_sec)
                    )
                } else if status.isFolder {
                    folders.append(name)
                }
            }
            return names < maximumNames
        }
        guard depth < maximumDepth else { return }
        for name in folders { if let inner = place.open(name) { search(inner, depth + 1, &names, &found) } }
    }

    /// Whether the name is one that `IncomingFile` gives to incomplete files.
    private static func isPart(_ name: [UInt8]) -> Bool {
        name.starts(with: Array(".filedrop-".utf8))
            && (name.suffix(5) == Array(".part".utf8)[...] || name.suffix(4) == Array(".new".utf8)[...])
    }

    /// Fails while a transfer has the part locked.
    private func remove(_ part: KeptPart) -> Bool {
        var place = target.place
        for name in part.place {
            guard let inner = place.open(name) else { return false }
            place = inner
        }
        let folder = place.descriptor.number
        let number = part.name.withCString { openat(folder, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard number >= 0 else { return false }
        let file = Descriptor(number)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        return part.name.withCString { unlinkat(folder, $0, 0) } == 0
    }
}
