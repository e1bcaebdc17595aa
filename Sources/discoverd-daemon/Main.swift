internal import ArgumentParser
internal import DNSSD
internal import DaemonSupport
internal import Glibc

/// The program: `discoverd daemon` becomes it.
@main
enum Main {
    static func main() {
        do {
            var command = try DaemonCommand.parseAsRoot()
            try command.run()
        } catch {
            let text = DaemonCommand.fullMessage(for: error)
            let status = DaemonCommand.exitCode(for: error)
            if status.isSuccess {
                print(text)
            } else if !text.isEmpty {
                Failure.write(text + "\n")
            }
            exit(status.rawValue)
        }
    }
}

/// Why the daemon does not run: a status of docs/contract.md, section 2, and a sentence.
struct Failure: Error {
    let status: Int32
    let message: String

    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// What the daemon's command line says.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discoverd daemon",
        abstract:
            "Runs the daemon: keeps what is known of the network, holds registrations, serves the control socket.",
        discussion: """
            It runs in the foreground until SIGTERM or Ctrl-C, and reads its configuration anew on SIGHUP.

            Examples:
              discoverd daemon                         as systemd starts it
              discoverd daemon --check                 is the configuration right?
              discoverd daemon --socket /tmp/d/s.sock  beside another
            """,
        version: "discoverd 0.1.0-dev"
    )

    static var _errorPrefix: String { "discoverd: error: " }

    @Option(help: ArgumentHelp("Where the configuration is; default: /etc/discoverd.", valueName: "directory"))
    var config = "/etc/discoverd"

    @Option(help: ArgumentHelp("The control socket; default: $RUNTIME_DIRECTORY/control.sock.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where registrations are kept; default: $STATE_DIRECTORY, and nowhere without it.",
            valueName: "directory"
        )
    )
    var state: String?

    @Option(help: "What answers for mDNS: auto, system or private; default: as the configuration says.")
    var backend: String?

    @Flag(help: "Only check the configuration, and exit with 78 if it is wrong.")
    var check = false

    @Flag(name: .shortAndLong, help: "Log more.")
    var verbose = false

    mutating func run() throws {
        do {
            let configuration = try DaemonConfiguration.load(directory: config)
            if check { return print("\(config.escapedForTerminal): the configuration is right") }
            try DaemonProcess(self, configuration).run()
        } catch let error as ConfigurationError {
            Failure.write("discoverd: error: \(error)\n")
            throw ExitCode(78)
        } catch let failure as Failure {
            Failure.write("discoverd: error: \(failure.message)\n")
            throw ExitCode(failure.status)
        }
    }
}
