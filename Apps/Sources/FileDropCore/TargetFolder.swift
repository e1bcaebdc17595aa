import CFiles
public import CommandFrame
import Glibc

/// The folder below which everything stays. Folders are opened one by one, and no symbolic link on the way is followed.
public struct TargetFolder: Sendable {
    let descriptor: Descriptor
    /// As it was given; for messages.
    public let path: String

    /// Opens a folder, which is made if there is none.
    public init(_ path: String) throws(CommandError) {
        if mkdir(path, 0o777) != 0 && errno != EEXIST {
            throw CommandError(.cannotCreate, "cannot make the folder \(path)", errno: errno)
        }
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw CommandError(.cannotCreate, "cannot use the folder \(path)", errno: errno) }
        descriptor = Descriptor(number)
        self.path = path
        guard faccessat(number, ".", W_OK | X_OK, 0) == 0 else {
            throw CommandError(.cannotCreate, "cannot write in the folder \(path)", errno: errno)
        }
    }

    /// The folder itself, as the place of a file.
    public var place: Place { Place(descriptor: descriptor, names: []) }

    /// Tells it from every other folder of this machine.
    var identity: String {
        let status = descriptor.status
        return "\(status?.st_dev ?? 0) \(FolderIdentity(descriptor)?.text ?? path)"
    }

    /// Whether there is room for so many bytes, as far as can be known.
    public func hasRoom(for bytes: Int64) -> Bool {
        guard let room else { return true }
        return UInt64(max(0, bytes)) <= room
    }

    /// Bytes that can be written; nil when the file system does not say.
    var room: UInt64? {
        var status = statvfs()
        guard fstatvfs(descriptor.number, &status) == 0, status.f_frsize > 0, status.f_blocks > 0 else { return nil }
        let (room, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? .max : room
    }
}

/// A folder in which files go.
public struct Place: Sendable {
    let descriptor: Descriptor
    /// Its names from the target folder on; none for that itself.
    let names: [[UInt8]]

    /// Where a file of that name is, from the target folder on.
    func path(_ name: [UInt8]) -> RelativePath { RelativePath(names: names + [name]) }

    /// The folder of that name in it, no symbolic link; nil with `errno` when there is none.
    func open(_ name: [UInt8]) -> Place? {
        let number = name.withCString {
            openat(descriptor.number, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        return number >= 0 ? Place(descriptor: Descriptor(number), names: names + [name]) : nil
    }

    /// Makes a folder of that name, or of one like it: what is there is never entered.
    func makeNew(_ name: [UInt8]) throws(FileFailure) -> Place {
        for attempt in 1...1000 {
            let variant = RelativePath.variant(attempt, of: name)
            guard variant.withCString({ mkdirat(descriptor.number, $0, 0o777) }) == 0 else {
                if errno == EEXIST { continue }
                throw FileFailure.writing(path(name).text, errno: errno)
            }
            guard let made = open(variant) else { throw FileFailure.writing(path(name).text, errno: errno) }
            return made
        }
        throw FileFailure.writing(path(name).text, errno: EEXIST)
    }
}

/// A folder, told from one of the same name that was made later.
struct FolderIdentity: Hashable, Sendable {
    let inode: UInt64
    /// When it was made, in ns since 1970.
    let birth: Int64

    init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }

    /// Nil where the file system does not say when a folder was made: its number is given to another one later.
    init?(_ folder: Descriptor) {
        guard let status = folder.status else { return nil }
        let birth = Int64(cfiles_birth(folder.number))
        guard birth != 0 else { return nil }
        self.init(inode: UInt64(status.st_ino), birth: birth)
    }

    var text: String { "\(inode) \(birth)" }
}

extension [UInt8] {
    /// As C strings are; it has no NUL.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (self + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                guard let start = chars.baseAddress else { return "".withCString(body) }
                return body(start)
            }
        }
    }
}
