import CFiles
public import CommandFrame
import Glibc

/// The folder that everything stays below. Folders are opened one by one, and no symbolic link is followed on the way.
public struct TargetFolder: Sendable {
    let descriptor: Descriptor
    /// The path as given, for messages.
    public let path: String

    /// Opens a folder, and creates it if needed.
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

    /// The folder itself, as a place for files.
    public var place: Place { Place(descriptor: descriptor, names: []) }

    /// Distinguishes it from every other folder of this machine.
    var identity: String {
        let status = descriptor.status
        return "\(status?.st_dev ?? 0) \(FolderIdentity(descriptor)?.text ?? path)"
    }

    /// Whether there is room for this many bytes, as far as can be known.
    public func hasRoom(for bytes: Int64) -> Bool {
        guard let room else { return true }
        return UInt64(max(0, bytes)) <= room
    }

    /// Free bytes; nil if the file system does not say.
    var room: UInt64? {
        var status = statvfs()
        guard fstatvfs(descriptor.number, &status) == 0, status.f_frsize > 0, status.f_blocks > 0 else { return nil }
        let (room, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? .max : room
    }
}

/// A folder that files go into.
public struct Place: Sendable {
    let descriptor: Descriptor
    /// Its names below the target folder; empty for the target folder itself.
    let names: [[UInt8]]

    /// The path of a file of that name, below the target folder.
    func path(_ name: [UInt8]) -> RelativePath { RelativePath(names: names + [name]) }

    /// Opens a subfolder, but no symbolic link; nil and `errno` on failure.
    func open(_ name: [UInt8]) -> Place? {
        let number = name.withCString {
            openat(descriptor.number, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        return number >= 0 ? Place(descriptor: Descriptor(number), names: names + [name]) : nil
    }

    /// Creates a folder of that name or a similar one; an existing folder is never entered.
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

/// Distinguishes a folder from later ones of the same name.
struct FolderIdentity: Hashable, Sendable {
    let inode: UInt64
    /// Its creation time, in ns since 1970.
    let birth: Int64

    init(inode: UInt64, birth: Int64) {
        self.inode = inode
        self.birth = birth
    }

    /// Nil if the file system does not report creation times: a folder's number is reused later.
    init?(_ folder: Descriptor) {
        guard let status = folder.status else { return nil }
        let birth = Int64(cfiles_birth(folder.number))
        guard birth != 0 else { return nil }
        self.init(inode: UInt64(status.st_ino), birth: birth)
    }

    var text: String { "\(inode) \(birth)" }
}

extension [UInt8] {
    /// Lends the bytes as a C string; they contain no NUL.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (self + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                guard let start = chars.baseAddress else { return "".withCString(body) }
                return body(start)
            }
        }
    }
}
