internal import ArgumentParser
internal import Glibc

/// The program: parses the command line, runs a command, exits with its status.
@main
enum Main {
    static func main() {
        let outputIsOpen = StandardDescriptors.fill()
        if outputIsOpen, let status = Shortcut.run(CommandLine.arguments.dropFirst()) { exit(status.rawValue) }
        parse(outputIsOpen: outputIsOpen)
    }

    /// Apart, for what it needs at its start the shortcut does without.
    @inline(never)
    private static func parse(outputIsOpen: Bool) {
        do {
            var command = try DiscoverdCommand.parseAsRoot()
            if let command = command as? any NetworkCommand {
                Runner.run(command, outputIsOpen: outputIsOpen)
            }
            try command.run()
            exit(ExitStatus.done.rawValue)
        } catch {
            report(error)
        }
    }

    /// Help goes to standard output; what is wrong with a command line goes to standard error, with its usage.
    private static func report(_ error: any Error) -> Never {
        let text = DiscoverdCommand.fullMessage(for: error)
        let status = DiscoverdCommand.exitCode(for: error)
        if status.isSuccess {
            print(text)
        } else if !text.isEmpty {
            Notices.write(text + "\n")
        }
        exit(status.rawValue)
    }
}

/// The root of the commands.
struct DiscoverdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discoverd",
        abstract: "Finds and publishes services on the local network (mDNS, DNS-SD).",
        discussion: """
            Examples:
              discoverd publish tony 9000          publish a service until Ctrl-C
              discoverd browse _witap._tcp -r      follow a type, with addresses
              discoverd browse --all -t            what is on this network
              discoverd resolve tony --json        one service, for a script
              discoverd doctor                     why nothing is found

            Exit status: 0 done, 1 not found, 64 usage, 69 no backend, 73 name taken.
            """,
        version: "discoverd \(Version.current)",
        subcommands: [
            BrowseCommand.self, TypesCommand.self, DomainsCommand.self, ResolveCommand.self, PublishCommand.self,
            WaitCommand.self, ConnectCommand.self, ListenCommand.self, ForwardCommand.self, StatusCommand.self,
            LsCommand.self, UnpublishCommand.self, ReloadCommand.self, DaemonCommand.self, DoctorCommand.self,
        ]
    )

    /// Usage errors have the form of all others.
    static var _errorPrefix: String { "discoverd: error: " }
}

/// The version of this program.
enum Version {
    static let current = "0.1.0-dev"
}
