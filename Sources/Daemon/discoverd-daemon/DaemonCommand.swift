#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverySystem

/// The daemon's command line.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discoverd daemon",
        abstract:
            "Runs the daemon: keeps what is known of the network, publishes what was handed to it, serves the control socket.",
        discussion: """
            It runs in the foreground until SIGTERM or Ctrl-C, and reads its configuration again on SIGHUP.

            Examples:
              systemctl enable --now discoverd         now, and at each boot
              discoverd daemon                         as systemd starts it
              discoverd daemon --check                 is the configuration right?
              discoverd daemon --socket /tmp/d/s.sock  beside another
            """,
        version: "discoverd \(DiscoverdVersion.current)"
    )

    static var _errorPrefix: String { "discoverd: error: " }

    @Option(help: ArgumentHelp("Where the configuration is; default: /etc/discoverd.", valueName: "directory"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The control socket; default: $RUNTIME_DIRECTORY/control.sock, /run/discoverd/control.sock for root, "
                + "$XDG_RUNTIME_DIR/discoverd/control.sock for others.",
            valueName: "path"
        )
    )
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where services that were handed over are kept; default: $STATE_DIRECTORY, /var/lib/discoverd for root, "
                + "$XDG_STATE_HOME/discoverd or ~/.local/state/discoverd for others; with --socket nowhere.",
            valueName: "directory"
        )
    )
    var state: String?

    @OptionGroup var publishing: AvahiOptions

    /// For tests, and for who looks for a fault.
    @Option(help: .hidden)
    var finder: AvahiUse.Finder?

    @Flag(help: "Only check the configuration, and exit with 78 if it is wrong.")
    var check = false

    @Flag(name: .shortAndLong, help: "Log more.")
    var verbose = false

    /// A missing configuration is fine, unless it was named.
    var place: ConfigurationPlace {
        config.map { ConfigurationPlace(directory: $0, mustExist: true) } ?? .system
    }

    mutating func run() throws {
        let isSupervised = Environment.value("NOTIFY_SOCKET") != nil
        do {
            // What is changed from here on is a change.
            let stamp = ConfigurationStamp(place)
            let configuration = try place.load()
            if check {
                Failure.write(configuration.doubts.map { "discoverd: \($0)\n" }.joined())
                Failure.write(configuration.leftOut.flatMap(\.lines).map { "discoverd: left out: \($0)\n" }.joined())
                _ = try DaemonDomains.settings(configuration)
                return print("\(place.directory.escapedForTerminal): the configuration is right")
            }
            try DaemonProcess(command: self, stamp: stamp, configuration: configuration).run()
        } catch let error as ConfigurationError {
            Failure.write(error.lines.map { "discoverd: error: \($0)\n" }.joined())
            throw ExitCode(78)
        } catch let failure as Failure {
            Failure.write("discoverd: error: \(failure.message)\n")
            // systemd starts it again at once, and would give up after ten times in a minute.
            if failure.status == Failure.passing, isSupervised { Signals().pause(.seconds(7)) }
            throw ExitCode(failure.status)
        }
    }
}

#endif
