public import CommandFrame
import Glibc

/// Why a file cannot be written or read.
public struct FileFailure: Error, Hashable, Sendable {
    /// What to tell the other side.
    public let kind: Message.Failure
    /// What to report here.
    public let error: CommandError

    init(_ kind: Message.Failure, _ error: CommandError) {
        self.kind = kind
        self.error = error
    }

    /// A system call on a file to be written has failed.
    static func writing(_ path: String, errno code: Int32) -> FileFailure {
        let what = "cannot write \(path)"
        switch code {
        case ENOSPC, EDQUOT, EFBIG:
            return FileFailure(
                .noSpace,
                CommandError(
                    .ioError, "\(what): \(systemMessage(code))",
                    advice: ["Nothing of it was kept under its name. Make room, and send it again."]))
        case EACCES, EPERM, EROFS, ELOOP, ENOTDIR:
            return FileFailure(.notPermitted, CommandError(.cannotCreate, what, errno: code))
        default: return FileFailure(.other, CommandError(.ioError, what, errno: code))
        }
    }

    /// A file to be sent cannot be read.
    static func reading(_ path: String, errno code: Int32) -> FileFailure {
        FileFailure(.other, CommandError(.noInput, "cannot read \(path)", errno: code))
    }
}

extension FileFailure {
    /// There is not enough room; known before anything is written.
    public static func noRoom(_ entry: Entry) -> FileFailure {
        .writing("\(entry.path.text) of \(ProgressLine.size(entry.size))", errno: ENOSPC)
    }
}
