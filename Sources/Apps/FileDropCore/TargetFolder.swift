public import AppSupport
import Glibc

/// The folder below which everything stays. Folders are opened one by one, and no symbolic link on the way is followed.
public struct TargetFolder: Sendable {
    let descriptor: Descriptor
    /// As it was given; for messages.
    public let path: String

    /// Opens a folder, which is made if there is none.
    public init(_ path: String) throws(AppError) {
        if mkdir(path, 0o777) != 0 && errno != EEXIST {
            throw AppError(.cannotCreate, "cannot make the folder \(path)", errno: errno)
        }
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw AppError(.cannotCreate, "cannot use the folder \(path)", errno: errno) }
        descriptor = Descriptor(number)
        self.path = path
        guard faccessat(number, ".", W_OK | X_OK, 0) == 0 else {
            throw AppError(.cannotCreate, "cannot write in the folder \(path)", errno: errno)
        }
    }

    /// Makes a folder and those above it.
    public func makeFolder(_ path: RelativePath) throws(FileFailure) { _ = try open(path.names) }

    /// The folder in which a file goes, made if there is none.
    func parent(of path: RelativePath) throws(FileFailure) -> Descriptor { try open(path.names.dropLast()) }

    private func open(_ names: some Sequence<[UInt8]>) throws(FileFailure) -> Descriptor {
        var folder = descriptor
        for name in names {
            let number = name.withCString { name -> Int32 in
                _ = mkdirat(folder.number, name, 0o777)
                return openat(folder.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
            guard number >= 0 else {
                throw FileFailure.writing(String(decoding: name, as: UTF8.self), errno: errno)
            }
            folder = Descriptor(number)
        }
        return folder
    }

    /// Whether there is room for so many bytes, as far as can be known.
    public func hasRoom(for bytes: Int64) -> Bool {
        var status = statvfs()
        guard fstatvfs(descriptor.number, &status) == 0, status.f_frsize > 0, status.f_blocks > 0 else { return true }
        let (room, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore || UInt64(max(0, bytes)) <= room
    }
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
