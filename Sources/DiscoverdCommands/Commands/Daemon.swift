#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Glibc

struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Runs the daemon; 'discoverd daemon --help' has its options.",
        discussion: "It is a program of its own, discoverd-daemon, so that the other commands start fast."
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of the daemon.")
    var arguments: [String] = []

    func run() throws {
        let paths = Self.candidates()
        for path in paths {
            var list = unsafe ([path] + arguments).map { unsafe strdup($0) }
            unsafe list.append(nil)
            _ = unsafe execv(path, list)
            let code = errno
            unsafe list.forEach { unsafe free($0) }
            guard code == ENOENT || code == ENOTDIR else {
                ProgramNotices().failure(
                    CommandError(
                        .programNotExecutable, "\(path.escapedForTerminal): cannot be started: \(systemMessage(code))")
                )
                throw ExitCode(ExitStatus.programNotExecutable.rawValue)
            }
        }
        ProgramNotices().failure(
            CommandError(
                .programNotFound,
                "discoverd-daemon is not installed",
                advice: ["It was looked for at \(paths.map(\.escapedForTerminal).joined(separator: ", "))."]
            )
        )
        throw ExitCode(ExitStatus.programNotFound.rawValue)
    }

    /// Where the daemon's program may be: beside this one, or in `libexec` next to its `bin`.
    private static func candidates() -> [String] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        var directory = "/usr/bin"
        if count > 0 {
            let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? directory
        }
        return ["\(directory)/discoverd-daemon", "\(directory)/../libexec/discoverd/discoverd-daemon"]
    }
}
#endif
