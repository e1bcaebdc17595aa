import Glibc

/// What transfers that nobody went on with have left in a folder.
public struct Leftovers: Sendable {
    /// For how long one may go on with a transfer: 7 days.
    public static let lifetime = 7 * 24 * 60 * 60
    /// Deeper folders are not looked into.
    private static let maximumDepth = 32
    /// No more names are looked at, so that a receiver of many files starts in time.
    private static let maximumNames = 100_000

    private let deadline: Int
    private var names = 0
    /// How many were removed.
    public private(set) var removed = 0

    /// Removes those in a folder, and in the folders in it, that nothing was written to for `lifetime`.
    /// - Parameter now: seconds since 1970; nil: as the clock says.
    public init(removingIn target: TargetFolder, now: Int? = nil) {
        deadline = (now ?? time(nil)) - Self.lifetime
        clean(target.descriptor, depth: 0)
    }

    private mutating func clean(_ folder: Descriptor, depth: Int) {
        // The stream owns the descriptor that it is given.
        let copy = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return
        }
        defer { closedir(stream) }
        while names < Self.maximumNames, let entry = readdir(stream) {
            names += 1
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            var status = stat()
            let code = name.withCString { fstatat(folder.number, $0, &status, AT_SYMLINK_NOFOLLOW) }
            guard code == 0 else { continue }
            if status.isFile, status.st_mtim.tv_sec < deadline, Self.isLeftover(name) { remove(name, from: folder) }
            guard status.isFolder, depth < Self.maximumDepth, name != [0x2E], name != [0x2E, 0x2E] else { continue }
            let number = name.withCString { openat(folder.number, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            if number >= 0 { clean(Descriptor(number), depth: depth + 1) }
        }
    }

    /// As `IncomingFile` calls what is not complete.
    private static func isLeftover(_ name: [UInt8]) -> Bool {
        name.starts(with: Array(".filedrop-".utf8))
            && (name.suffix(5) == Array(".part".utf8)[...] || name.suffix(4) == Array(".new".utf8)[...])
    }

    /// Not while a transfer has it locked.
    private mutating func remove(_ name: [UInt8], from folder: Descriptor) {
        let number = name.withCString { openat(folder.number, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard number >= 0 else { return }
        let file = Descriptor(number)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { return }
        if name.withCString({ unlinkat(folder.number, $0, 0) }) == 0 { removed += 1 }
    }
}
