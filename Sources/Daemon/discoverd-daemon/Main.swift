#if Commands
internal import ArgumentParser
internal import CLinux
internal import CommandFrame
internal import DNSSD
internal import DiscoverdCommands
internal import Libc

/// The program that `discoverd` executes: for the daemon, and for commands about other domains than `local` and with TLS.
@main
enum Main {
    static func main() {
        // The name that it is executed by: its own, or discoverd's (LargeProgram).
        if CommandLine.arguments.first?.split(separator: "/").last == LargeProgram.name[...] { runDaemon() }
        // Else ps(1) and /proc call the process by the file's name.
        unsafe LargeProgram.commandName.withCString { unsafe clinux_name_thread($0) }
        DiscoverdProgram.main(with: More())
    }

    private static func runDaemon() -> Never {
        // The daemon runs for months, mostly idle: with a heap per thread, 1000 services took 66 MB instead of 48.
        clinux_small_heap()
        // Measured (ResourceLimitTests): with less, it fails or hangs silently.
        ProcessNeeds(descriptors: 32, threads: 8, mebibytes: 48).require(of: "discoverd-daemon")
        do {
            var command = try DaemonCommand.parseAsRoot()
            try command.run()
            exit(EXIT_SUCCESS)
        } catch {
            let text = DaemonCommand.fullMessage(for: error)
            let status = DaemonCommand.exitCode(for: error)
            let arguments = Array(CommandLine.arguments.dropFirst())
            if status == .validationFailure, let slip = CommandError(slipIn: arguments, of: DaemonCommand.self) {
                ProgramNotices(program: "discoverd", level: .normal).failure(slip)
            } else if status.isSuccess {
                print(text)
            } else if !text.isEmpty {
                Failure.write(text + "\n")
            }
            exit(status.rawValue)
        }
    }
}

/// Why the daemon does not run: an exit status (docs/contract/exit-status.md) and a sentence.
struct Failure: Error, CustomStringConvertible {
    let status: Int32
    let message: String

    var description: String { message }

    /// Of what may be well later, as a full disk: systemd starts the daemon again.
    static let passing: Int32 = 74

    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Libc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
#else
import CommandFrame

/// The program that a bare `swift build` makes.
@main
enum Main {
    static func main() { BareBuild.end("discoverd-daemon") }
}
#endif
