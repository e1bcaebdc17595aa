/// A command or an option that there is not, and what was perhaps meant. Found out after a parser refused a command line, for a
/// parser that goes on to the next rule says what is missing rather than what is wrong.
package struct CommandLineSlip: Hashable, Sendable {
    /// A sentence for people; not yet safe for a terminal.
    package let message: String
    /// What to do.
    package let advice: String

    /// What can be said on a command line.
    package struct Grammar {
        /// The program.
        package let program: String
        /// The commands; none for a program without.
        package let commands: [String]
        /// Words that others use for commands, and options that they use for others: each with what is the same here.
        package let synonyms: [String: String]
        /// Commands whose options are another program's.
        package let opaque: Set<String>
        /// The help of a command, or of the program itself.
        package let help: (String?) -> String

        /// - Parameter help: rendered without a limit (`HelpText.unlimited`).
        package init(
            _ program: String, commands: [String], synonyms: [String: String] = [:], opaque: Set<String> = [],
            help: @escaping (String?) -> String
        ) {
            self.program = program
            self.commands = commands
            self.synonyms = synonyms
            self.opaque = opaque
            self.help = help
        }
    }

    /// The first slip of a command line; nil where there is none, or it is of another kind.
    package static func find(in arguments: [String], _ grammar: Grammar) -> CommandLineSlip? {
        let position = grammar.commands.isEmpty ? nil : arguments.firstIndex { !$0.hasPrefix("-") }
        var command: String?
        if let position {
            let word = arguments[position]
            if word == "help" { return unknownTopic(arguments[(position + 1)...], grammar) }
            guard grammar.commands.contains(word) else { return unknownCommand(word, grammar) }
            guard !grammar.opaque.contains(word) else { return nil }
            command = word
        }
        let options = Options(grammar.help(command))
        var rest = arguments[((position ?? -1) + 1)...]
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("-"), argument != "-" else { continue }
            if let wrong = options.unknown(in: argument) { return unknownOption(wrong, options, command, grammar) }
            if options.takesNext(argument) { _ = rest.popFirst() }
        }
        return nil
    }

    private static func unknownTopic(_ words: ArraySlice<String>, _ grammar: Grammar) -> CommandLineSlip? {
        guard let word = words.first(where: { !$0.hasPrefix("-") }), !grammar.commands.contains(word) else {
            return nil
        }
        return unknownCommand(word, grammar)
    }

    private static func unknownCommand(_ word: String, _ grammar: Grammar) -> CommandLineSlip {
        let nearest = grammar.synonyms[word.lowercased()] ?? Suggestion.nearest(to: word, among: grammar.commands)
        return CommandLineSlip(
            message: "unknown command '\(word)'" + question(nearest),
            advice: "'\(grammar.program) --help' lists the commands.")
    }

    private static func unknownOption(
        _ option: String, _ options: Options, _ command: String?, _ grammar: Grammar
    ) -> CommandLineSlip {
        let nearest =
            grammar.synonyms[option]
            ?? (option.hasPrefix("--")
                ? Suggestion.nearest(
                    to: String(option.dropFirst(2)), among: options.long.keys.map { String($0.dropFirst(2)) }
                )
                .map { "--" + $0 } : nil)
        if !option.hasPrefix("--"), option.count > 2 {
            return CommandLineSlip(
                message: "unknown option '\(option)'",
                advice:
                    "What begins with a hyphen and is no option follows --: \(grammar.program) \(command ?? "COMMAND") -- \(option)"
            )
        }
        let place = [grammar.program, command].compactMap(\.self).joined(separator: " ")
        return CommandLineSlip(
            message: "unknown option '\(option)'" + question(nearest), advice: "'\(place) --help' lists the options.")
    }

    private static func question(_ nearest: String?) -> String { nearest.map { ". Did you mean '\($0)'?" } ?? "" }
}

extension CommandLineSlip {
    /// The options that a help names, each with whether it takes a value.
    struct Options {
        private(set) var long: [String: Bool] = [
            "--help": false, "--help-hidden": false, "--version": false, "--generate-completion-script": true,
            "--experimental-dump-help": false,
        ]
        private(set) var short: [Character: Bool] = ["h": false]

        init(_ help: String) {
            for line in help.split(separator: "\n") where line.hasPrefix("  -") {
                // The label ends with two blanks, or with the line.
                let body = line.dropFirst(2)
                let words = body.split(separator: " ", omittingEmptySubsequences: false)
                let label = words.prefix { !$0.isEmpty }
                let takesValue = label.contains { $0.hasPrefix("<") }
                for word in label {
                    let name = String(word.prefix { $0 != "," && $0 != "/" })
                    if name.hasPrefix("--") {
                        long[name] = takesValue
                    } else if name.hasPrefix("-"), name.count == 2, let letter = name.last {
                        short[letter] = takesValue
                    }
                }
            }
        }

        /// The option in an argument that there is not.
        func unknown(in argument: String) -> String? {
            if argument.hasPrefix("--") {
                let name = String(argument.prefix { $0 != "=" })
                return long[name] == nil ? name : nil
            }
            for letter in argument.dropFirst() {
                guard let takesValue = short[letter] else {
                    return letter == argument.dropFirst().first ? argument : "-\(letter)"
                }
                if takesValue { break }
            }
            return nil
        }

        /// Whether the next argument is the value of this one.
        func takesNext(_ argument: String) -> Bool {
            if argument.hasPrefix("--") { return !argument.contains("=") && long[argument] == true }
            return argument.last.map { short[$0] == true } ?? false
        }
    }
}
