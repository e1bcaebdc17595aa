#if Commands
internal import ArgumentParser
internal import CLinux
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// The program: parses the command line, runs a command, exits with its status.
package enum DiscoverdProgram {
    /// Runs the process's command; never returns.
    /// - Parameter more: what services of other domains and TLS need; without it, the process becomes `discoverd-daemon` for them.
    package static func main(with more: (any MoreSupport)? = nil) -> Never {
        let outputIsOpen = StandardDescriptors.fill()
        // For what a list of thousands makes grow.
        clinux_small_heap()
        // Measured (ResourceLimitTests): with less, a command fails or hangs silently.
        ProcessNeeds(descriptors: 16, threads: 6, mebibytes: 24).require(of: "discoverd")
        if outputIsOpen, let status = BrowseWords(CommandLine.arguments.dropFirst())?.run() { exit(status.rawValue) }
        parse(with: more, outputIsOpen: outputIsOpen)
    }

    /// Kept out of `main`, so that the shortcut does not pay for its start-up.
    @inline(never)
    private static func parse(with more: (any MoreSupport)?, outputIsOpen: Bool) -> Never {
        let words: CommandWords
        do throws(CommandLineArguments.NotUTF8) {
            words = CommandWords(try DiscoverdCommand.arguments().texts)
        } catch {
            refuse(CommandError(.usage, "the argument '\(error.argument)' is not UTF-8"))
        }
        let failures = JSONWords.report(of: words.arguments)
        let arguments: [String]
        do throws(CommandError) {
            arguments = try JSONWords.parsed(words.arguments)
        } catch {
            refuse(error, failures)
        }
        if LeadingOptions.areAll(words.arguments) {
            let advice = ["'discoverd --help' lists the commands."]
            refuse(CommandError(.usage, "a command is missing", advice: advice), failures)
        }
        if arguments.first == "help", let slip = CommandLineSlip.find(in: arguments, .discoverd) {
            refuse(slip, failures)
        }
        var hints = words.hints
        do {
            var command = try DiscoverdCommand.parseDirectly(arguments) ?? DiscoverdCommand.parseAsRoot(arguments)
            if let command = command as? any NetworkCommand {
                Runner.run(command, hints: words.hints, with: more, outputIsOpen: outputIsOpen)
            }
            let local = command as? any LocalCommand
            // The other program says them itself.
            if let local, more == nil, let purpose = local.needsMore {
                guard outputIsOpen || !type(of: local).onlyPrints else { throw CommandError.closedOutput }
                LargeProgram.become(for: purpose, failures)
            }
            hints.forEach(ProgramNotices().hint)
            hints = []
            if let local {
                guard outputIsOpen || !type(of: local).onlyPrints else { throw CommandError.closedOutput }
                try local.run(with: more)
            } else {
                try command.run()
            }
            exit(ExitStatus.done.rawValue)
        } catch let error as CommandError {
            refuse(error, failures)
        } catch {
            hints.forEach(ProgramNotices().hint)
            report(error, of: arguments, failures)
        }
    }

    /// Help goes to standard output; a wrong command line is reported on standard error, with its usage.
    private static func report(_ error: any Error, of arguments: [String], _ failures: FailureReport) -> Never {
        let text = DiscoverdCommand.fullMessage(for: error, columns: HelpText.unlimited)
        let status = DiscoverdCommand.exitCode(for: error)
        if status.isSuccess, let error = DiscoverdCommand.incompleteness(of: arguments) { refuse(error, failures) }
        if status.isSuccess {
            // "FIND:" is enough.
            let help = HelpText.fitted(text.replacing(" SUBCOMMANDS:", with: ":"), to: STDOUT_FILENO) + "\n"
            do throws(CommandError) { try Output.write(help.utf8) } catch { refuse(error, failures) }
        } else if status == .validationFailure, let slip = CommandLineSlip.find(in: arguments, .discoverd) {
            refuse(slip, failures)
        } else if !text.isEmpty {
            let prefix = DiscoverdCommand._errorPrefix
            let said = text.hasPrefix(prefix) ? prefix + String(text.dropFirst(prefix.count)).uncapitalized : text
            ProgramNotices.write(JSONWords.written(CommandLineArguments.unmarked(said)) + "\n")
            let message = DiscoverdCommand.message(for: error).uncapitalized
            failures.tellPrograms(CommandError(.usage, JSONWords.written(message)))
        }
        exit(status.rawValue)
    }

    private static func refuse(_ slip: CommandLineSlip, _ failures: FailureReport) -> Never {
        let error = CommandError(slip)
        refuse(CommandError(.usage, JSONWords.written(error.message), advice: error.advice), failures)
    }

    private static func refuse(_ error: CommandError, _ failures: FailureReport = FailureReport(version: nil)) -> Never
    {
        failures.tell(error)
        exit(error.status.rawValue)
    }
}

extension String {
    /// Begins as all messages do, whoever wrote it: `NAME` and what is quoted stay.
    var uncapitalized: String {
        guard let first, first.isUppercase, let next = dropFirst().first, next.isLowercase || next == " " else {
            return self
        }
        return first.lowercased() + dropFirst()
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
              discoverd doctor tony                why this one is not found, or not reached

            Exit status: 0 done, 1 not found, 64 usage, 69 nothing finds or publishes, 73 name taken.
            """,
        version: "discoverd \(DiscoverdVersion.current)",
        groupedSubcommands: [
            CommandGroup(
                name: "Find",
                subcommands: [
                    BrowseCommand.self, ResolveCommand.self, WaitCommand.self, QueryCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Publish", subcommands: [PublishCommand.self, UnpublishCommand.self, UpdateCommand.self]),
            CommandGroup(
                name: "Connect", subcommands: [ConnectCommand.self, ListenCommand.self, ForwardCommand.self]),
            CommandGroup(
                name: "Daemon",
                subcommands: [
                    BecomeDaemonCommand.self, StatusCommand.self, ReloadCommand.self, ShowCommand.self,
                    SetupCommand.self,
                ]),
            CommandGroup(name: "Trust", subcommands: [KeyCommand.self]),
        ]
    )

    /// The commands that `--help` lists.
    static var commands: [any ParsableCommand.Type] {
        configuration.subcommands.filter { $0.configuration.shouldDisplay }
    }

    /// Parses a command by itself: of the root, the parser looks at the options of every command first, which takes longer than most
    /// commands do.
    /// - Returns: nil when the command line is wrong, asks for help, or names no command: then the root says what it means.
    static func parseDirectly(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let (command, rest) = command(in: arguments) else { return nil }
        let parsed = try? command.parseAsRoot(rest)
        return parsed.flatMap { type(of: $0) == command ? $0 : nil }
    }

    /// The command that arguments name, and those after its name; nil for one that is none without another below it.
    static func command(in arguments: [String]) -> (type: any ParsableCommand.Type, rest: [String])? {
        var (rest, commands) = (arguments[...], configuration.subcommands)
        var command: (any ParsableCommand.Type)?
        while let next = commands.first(where: { $0.configuration.commandName == rest.first }) {
            (command, commands, rest) = (next, next.configuration.subcommands, rest.dropFirst())
        }
        return command.flatMap { commands.isEmpty ? ($0, Array(rest)) : nil }
    }

    /// What is wrong where a command is named that does nothing without one of those below it; nil elsewhere.
    static func incompleteness(of arguments: [String]) -> CommandError? {
        guard arguments.count == 1, let word = arguments.first,
            let command = commands.first(where: { $0.configuration.commandName == word })
        else { return nil }
        let below = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let last = below.last else { return nil }
        return CommandError(
            .usage, "'\(word)' needs one more word: \(below.dropLast().joined(separator: ", ")) or \(last)",
            advice: ["'discoverd \(word) --help' says what each does."])
    }

    /// Gives usage errors the form of all others.
    static var _errorPrefix: String { "discoverd: error: " }

    /// This process's arguments.
    static func arguments() throws(CommandLineArguments.NotUTF8) -> CommandLineArguments {
        let arguments = LeadingOptions.moved(CommandLineArguments.ofProcess())
        // A shell that asks what to complete passes a command line as it is.
        let isAsked = arguments.first == Array("---completion".utf8)
        return try CommandLineArguments(arguments, runners: isAsked ? [] : ["publish", "listen"]) { command, option in
            CommandLineSlip.takesNext(option, of: command, .discoverd)
        }
    }
}

extension CommandLineSlip.Grammar {
    /// Commands and options of discoverd, and other programs' words for them.
    static var discoverd: CommandLineSlip.Grammar {
        let commands = DiscoverdCommand.commands
        let nested = commands.flatMap { command in
            command.configuration.subcommands.map { ("\(name(command)) \(name($0))", $0) }
        }
        return CommandLineSlip.Grammar(
            "discoverd", commands: commands.map(name) + ["help", "update"], nested: nested.map(\.0),
            synonyms: [
                "lookup": "resolve", "dig": "query", "why": "doctor", "diagnose": "doctor", "get": "resolve",
                "list": "browse", "search": "browse", "find": "browse", "discover": "browse", "scan": "browse",
                "keys": "key", "trust": "key", "announce": "publish", "advertise": "publish", "register": "publish",
                "unregister": "unpublish",
                "withdraw": "unpublish", "dial": "connect", "serve": "listen", "start": "daemon", "run": "daemon",
                "version": "--version", "-V": "--version", "-p": "--json", "--parsable": "--json",
                "--terminate": "--once", "-d": "--domain",
            ], opaque: ["daemon"]
        ) { words in
            let known = DiscoverdCommand.configuration.subcommands.map { (name($0), $0) } + nested
            guard let command = known.first(where: { $0.0 == words })?.1 else {
                return DiscoverdCommand.helpMessage(columns: HelpText.unlimited)
            }
            return DiscoverdCommand.helpMessage(for: command, includeHidden: true, columns: HelpText.unlimited)
        }
    }

    private static func name(_ command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }
}

/// The program that is installed with this one, which this process can become (docs/decisions/0082-two-programs.md): it is the daemon, and
/// has what commands for services of other domains than `local` need, and for TLS.
package enum LargeProgram {
    /// Executed by this name, it is the daemon; by any other, it runs a command.
    package static let name = "discoverd-daemon"
    package static let commandName = "discoverd"

    /// Becomes the daemon.
    /// - Returns: why it could not.
    static func becomeDaemon(_ arguments: [String]) -> CommandError {
        become { path in
            var list = unsafe ([path] + arguments).map { unsafe strdup($0) }
            unsafe list.append(nil)
            defer { unsafe list.forEach { unsafe free($0) } }
            return unsafe execv(path, list)
        }
    }

    /// Runs this process's command in it.
    /// - Returns: why it could not.
    static func become() -> CommandError {
        become { path in
            // Arguments need not be UTF-8.
            var list = unsafe Array(UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)))
            let name = unsafe strdup(commandName)
            defer { unsafe free(name) }
            unsafe list.replaceSubrange(..<min(1, list.count), with: [name])
            unsafe list.append(nil)
            return unsafe execv(path, list)
        }
    }

    /// Runs this process's command in it, or ends.
    /// - Parameter purpose: what it does, as the end of a sentence.
    static func become(for purpose: String, _ failures: FailureReport) -> Never {
        let failure = become()
        failures.tell(
            CommandError(failure.status, "\(failure.message), which \(purpose)", advice: failure.advice))
        exit(failure.status.rawValue)
    }

    /// Whether it is there.
    static var isInstalled: Bool { candidates.contains { unsafe access($0, X_OK) == 0 } }

    private static func become(_ execute: (String) -> Int32) -> CommandError {
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

    /// A file that is installed with this program, by its place below `share/discoverd`; nil where it is not there.
    private static func shared(_ name: String) -> String? {
        let prefix = directory.hasSuffix("/bin") ? String(directory.dropLast(4)) : directory
        let path = "\(prefix)/share/discoverd/\(name)"
        return unsafe access(path, R_OK) == 0 ? path : nil
    }

    /// The comment by which editors complete and check a file of YAML by a schema that is installed; nil where it is not.
    static func modeline(_ schema: String) -> String? {
        shared(schema).map { "\(ConfigurationKeys.modeline)\($0)" }
    }

    /// Where it may be: beside this program, or in `libexec` next to its `bin`.
    private static var candidates: [String] {
        ["\(directory)/\(name)", "\(directory)/../libexec/discoverd/\(name)"]
    }

    /// Where this program is.
    private static var directory: String {
        let path = SystemFile.link("/proc/self/exe")
        return path.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } } ?? "/usr/bin"
    }
}
#endif
