#if Commands
internal import DiscoverySystem

/// A command line in today's words, and what to say where it has those of the version before, which are understood for this version
/// (docs/decisions/0080-sixteen-commands.md). A value.
struct CommandWords: Equatable {
    /// For the parser.
    private(set) var arguments: [String]
    /// Each a sentence for people; not yet safe for a terminal.
    private(set) var hints: [String] = []

    /// What each old command is now.
    static let commands: [String: [String]] = [
        "explain": ["doctor"], "host": ["resolve", "--host"], "ls": ["status", "--services"],
        "types": ["browse", "--types"], "domains": ["browse", "--domains"], "identity": ["key", "show"],
        "known": ["key", "list"], "pair": ["key", "pair"], "import": ["setup", "avahi"],
        "zone-template": ["setup", "zone"],
    ]
    /// What options of the version before are now. They are parsed still, and hidden.
    static let options: [String: String] = [
        "--check-interval": "--check CHECK,every=SECONDS", "--rise": "--check CHECK,rise=N",
        "--fall": "--check CHECK,fall=N",
        "--deny": "--allow '!CIDR'", "--trust-first": "--trust first", "--pin": "--trust SHA256:…",
        "--ca": "--trust FILE",
        "--ca-name": "--trust name=NAME", "--gone": "--count 0", "--bind": "forward NAME ADDRESS:PORT",
        "--address-record": "publish HOST ADDRESS", "--subtype": "--type TYPE,SUBTYPE", "--watch": "--live",
        "--server-address": "--address", "--no-daemon": "--socket none", "--backend": "--avahi auto|always|never",
    ]
    /// What `known` was followed by.
    private static let ofKnown: Set<String> = ["add", "forget", "hash", "list"]
    /// Commands whose `-t` was a number of seconds, and what one of them is now.
    private static let hadSeconds: Set<String> = ["query", "host", "explain", "doctor"]
    /// Commands that end by themselves, so that `-t`, once, says nothing new.
    private static let areOnce: Set<String> = ["query", "resolve", "doctor", "wait"]

    init(_ arguments: [String]) {
        self.arguments = arguments
        guard let command = arguments.first else { return }
        var rest = Array(arguments.dropFirst())
        if command == "help" {
            ask(about: rest)
            return
        }
        if Self.hadSeconds.contains(command) { renameSeconds(in: &rest) }
        var words = Self.commands[command] ?? [command]
        switch command {
        case "known": if let word = rest.first, Self.ofKnown.contains(word) { words[1] = rest.removeFirst() }
        case "types", "domains": words += Self.removeLetter("f", "--follow", from: &rest) ? [] : ["-t"]
        case "update":
            hints.append(
                "'discoverd update' goes with the next version: 'discoverd publish NAME PORT --detach' once more, with the new "
                    + "--txt, changes the service in place")
        default: break
        }
        if Self.areOnce.contains(words[0]) { _ = Self.removeLetter("t", "--once", from: &rest) }
        if words != [command] { tell(command, words) }
        self.arguments = words + rest
        let given = rest.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
        for option in Set(given).sorted() {
            guard let new = Self.options[option] else { continue }
            let (before, now) = option == "--backend" ? Self.avahi(rest) ?? (option, new) : (option, new)
            hints.append("'\(before)' is now '\(now)'; the old option goes with the next version")
        }
    }

    /// `--backend system` as `--avahi always`.
    private static func avahi(_ rest: [String]) -> (String, String)? {
        guard let place = rest.firstIndex(where: { $0.hasPrefix("--backend") }) else { return nil }
        let value = rest[place].split(separator: "=").dropFirst().first.map(String.init) ?? rest[(place + 1)...].first
        return value.flatMap { value in
            AvahiUse.Backend(named: value).map { ("--backend \(value)", "--avahi \(AvahiUse($0).rawValue)") }
        }
    }

    /// `help ls`
    private mutating func ask(about topic: [String]) {
        guard let command = topic.first, var words = Self.commands[command] else { return }
        if command == "known", topic.count > 1, Self.ofKnown.contains(topic[1]) { words[1] = topic[1] }
        arguments = ["help"] + words.filter { !$0.hasPrefix("-") }
        tell(command, words)
    }

    private mutating func tell(_ command: String, _ words: [String]) {
        hints.append(
            "'discoverd \(command)' is now 'discoverd \(words.joined(separator: " "))'; the old words go with the next version"
        )
    }

    /// `-t 3` as `--timeout 3`.
    private mutating func renameSeconds(in rest: inout [String]) {
        var index = 0
        while index < rest.count, rest[index] != "--" {
            let argument = rest[index]
            if argument.hasPrefix("-t="), Double(argument.dropFirst(3)) != nil {
                rest[index] = "--timeout=\(argument.dropFirst(3))"
                tellSeconds(String(argument.dropFirst(3)))
            } else if argument.hasSuffix("t"), Self.isLetters(argument), index + 1 < rest.count,
                Double(rest[index + 1]) != nil
            {
                let others = argument.dropLast()
                tellSeconds(rest[index + 1])
                let words = (others == "-" ? [] : [String(others)]) + ["--timeout"]
                rest.replaceSubrange(index...index, with: words)
                index += words.count
            }
            index += 1
        }
    }

    private mutating func tellSeconds(_ number: String) {
        hints.append("'-t \(number)' is now '--timeout \(number)': from the next version on, -t is once, as of browse")
    }

    /// Whether an option was there: by its letter, also among others as in `-4f`, or its name.
    private static func removeLetter(_ letter: Character, _ name: String, from rest: inout [String]) -> Bool {
        let end = rest.firstIndex(of: "--") ?? rest.count
        var kept: [String] = []
        for argument in rest[..<end] where argument != name {
            let left = isLetters(argument) ? argument.filter { $0 != letter } : argument
            if left != "-" || argument == "-" { kept.append(left) }
        }
        defer { rest.replaceSubrange(..<end, with: kept) }
        return kept != Array(rest[..<end])
    }

    /// Options of one letter, without values.
    private static func isLetters(_ argument: String) -> Bool {
        argument.first == "-" && argument.count > 1 && argument.dropFirst().allSatisfy { "46fhqtv".contains($0) }
    }
}
#endif
