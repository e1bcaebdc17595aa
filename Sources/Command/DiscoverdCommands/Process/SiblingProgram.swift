#if Commands
internal import CommandFrame
internal import DNSSD
internal import Libc

/// A program that is installed with this one, which this process can become.
struct SiblingProgram {
    let name: String

    /// The program with what services of other domains than `local` need.
    static let dns = SiblingProgram(name: "discoverd-dns")
    static let daemon = SiblingProgram(name: "discoverd-daemon")

    /// Becomes the program, with this process's arguments.
    /// - Returns: why it could not.
    func become() -> CommandError {
        become { path in unsafe execv(path, CommandLine.unsafeArgv) }
    }

    /// Becomes the program, with this process's arguments, or ends.
    /// - Parameter purpose: what it does, as the end of a sentence.
    func become(for purpose: String, _ notices: ProgramNotices) -> Never {
        let failure = become()
        notices.failure(
            CommandError(failure.status, "\(failure.message), which \(purpose)", advice: failure.advice))
        exit(failure.status.rawValue)
    }

    /// Becomes the program, with other arguments.
    /// - Returns: why it could not.
    func become(_ arguments: [String]) -> CommandError {
        become { path in
            var list = unsafe ([path] + arguments).map { unsafe strdup($0) }
            unsafe list.append(nil)
            defer { unsafe list.forEach { unsafe free($0) } }
            let result = unsafe execv(path, list)
            let code = errno
            defer { errno = code }
            return result
        }
    }

    /// Whether it is there.
    var isInstalled: Bool { candidates.contains { unsafe access($0, X_OK) == 0 } }

    private func become(_ execute: (String) -> Int32) -> CommandError {
        let paths = candidates
        for path in paths {
            _ = execute(path)
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                return CommandError(
                    .programNotExecutable, "\(path.escapedForTerminal): cannot be started: \(systemMessage(code))")
            }
        }
        return CommandError(
            .programNotFound, "\(name) is not installed",
            advice: ["It was looked for at \(paths.map(\.escapedForTerminal).joined(separator: ", "))."])
    }

    /// Where it may be: beside this program, or in `libexec` next to its `bin`.
    private var candidates: [String] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        var directory = "/usr/bin"
        if count > 0 {
            let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? directory
        }
        return ["\(directory)/\(name)", "\(directory)/../libexec/discoverd/\(name)"]
    }
}
#endif
