#if Commands
internal import Glibc

/// A pipe that carries signs without meaning: how many there are is what counts.
final class Pipe: Sendable {
    /// Readable while there are signs.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError(errno) }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Adds a sign; there must never be more than 4096, which every pipe holds (pipe(7)).
    func put() {
        var sign: UInt8 = 1
        while unsafe write(writeEnd, &sign, 1) == -1, errno == EINTR {}
    }

    /// Takes a sign; blocks while there is none.
    func take() {
        var sign: UInt8 = 0
        while unsafe read(readEnd, &sign, 1) == -1, errno == EINTR {}
    }
}
#endif
