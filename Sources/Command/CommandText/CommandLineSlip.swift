/// An unknown command or option, and what was perhaps meant; or what is missing. Searched for only after the parser refused the command line, because the
/// parser often reports what is missing instead of what is wrong.
package struct CommandLineSlip: Hashable, Sendable {
    /// A sentence for people; not yet safe for a terminal.
    package let message: String
    /// How to correct it.
    package let advice: String
    /// An option has no value.
    private let isAboutAbsence: Bool

    private init(message: String, advice: String, isAboutAbsence: Bool = false) {
        (self.message, self.advice, self.isAboutAbsence) = (message, advice, isAboutAbsence)
    }

    /// The commands and options that exist.
    package struct Grammar {
        /// The program's name.
        package let program: String
        /// The commands; empty for a program without commands.
        package let commands: [String]
        /// Commands below others, as `key add`.
        package let nested: [String]
        /// Other programs' words for commands and options, each with the equivalent here.
        package let synonyms: [String: String]
        /// Commands whose options belong to another program.
        package let opaque: Set<String>
        /// The help text of a command, or of the program for nil.
        package let help: (String?) -> String

        /// - Parameter help: rendered without a line limit (`HelpText.unlimited`).
        package init(
            _ program: String, commands: [String], nested: [String] = [], synonyms: [String: String] = [:],
            opaque: Set<String> = [], help: @escaping (String?) -> String
        ) {
            (self.program, self.commands, self.nested, self.synonyms) = (program, commands, nested, synonyms)
            (self.opaque, self.help) = (opaque, help)
        }
    }

    /// Whether an option of a command takes the next argument as its value.
    package static func takesNext(_ option: String, of command: String, _ grammar: Grammar) -> Bool {
        Options(grammar.help(command)).takesNext(option)
    }

    /// The first slip in a command line; nil if there is none of this kind.
    package static func find(in arguments: [String], _ grammar: Grammar) -> CommandLineSlip? {
        var position = grammar.commands.isEmpty ? nil : arguments.firstIndex { !$0.hasPrefix("-") }
        var command: String?
        if let first = position {
            let word = arguments[first]
            if word == "help" { return unknownTopic(arguments[(first + 1)...], grammar) }
            guard grammar.commands.contains(word) else {
                return unknownCommand(word, among: grammar.commands, grammar)
            }
            guard !grammar.opaque.contains(word) else { return nil }
            command = word
            let below = grammar.nested.filter { $0.hasPrefix(word + " ") }
            if !below.isEmpty, let next = arguments[(first + 1)...].firstIndex(where: { !$0.hasPrefix("-") }) {
                let words = "\(word) \(arguments[next])"
                guard below.contains(words) else { return unknownCommand(words, among: below, grammar, word) }
                (position, command) = (next, words)
            }
        }
        let help = grammar.help(command)
        let options = Options(help)
        if let command, let early = arguments.first, early.hasPrefix("-"), options.unknown(in: early) == nil,
            Options(grammar.help(nil)).unknown(in: early) != nil
        {
            return CommandLineSlip(
                message: "'\(early)' is an option of '\(command)', and stands behind it",
                advice: "Write \(grammar.program) \(command) \(early).")
        }
        var rest = arguments[((position ?? -1) + 1)...]
        var (value, given): (CommandLineSlip?, Set<String>) = (nil, [])
        var operands = 0
        while let argument = rest.popFirst(), argument != "--" {
            guard argument.hasPrefix("-"), argument != "-" else {
                operands += 1
                if let slip = misplaced(argument, isFirst: operands == 1, options) { return slip }
                continue
            }
            if let wrong = options.unknown(in: argument) { return unknownOption(wrong, options, command, grammar) }
            given.insert(String(argument.prefix { $0 != "=" }))
            guard options.takesNext(argument) else { continue }
            let slip = valueSlip(of: argument, rest.first, options)
            value = value ?? slip
            // What is an option is none's value.
            if slip?.isAboutAbsence != true { _ = rest.popFirst() }
        }
        return value
            ?? missing(operands: operands + rest.count, given: given, help, [grammar.program, command])
    }

    /// A value that is missing, or that the parser takes for an option.
    private static func valueSlip(of option: String, _ value: String?, _ options: Options) -> CommandLineSlip? {
        guard let value, value != "--" else { return lacksValue(option) }
        guard value.hasPrefix("-"), value != "-" else { return nil }
        guard value.dropFirst().first?.isNumber == true || options.unknown(in: value) != nil else {
            return lacksValue(option)
        }
        return CommandLineSlip(
            message: "\(option) is followed by '\(value)', which begins with a hyphen",
            advice: "Such a value is written \(option)=\(value).")
    }

    private static func lacksValue(_ option: String) -> CommandLineSlip {
        CommandLineSlip(
            message: "\(option) lacks its value", advice: "Write \(option) VALUE, or \(option)=VALUE.",
            isAboutAbsence: true)
    }

    /// Operands and options without which the command does nothing, in whatever way it is written.
    private static func missing(
        operands: Int, given: Set<String>, _ help: String, _ place: [String?]
    ) -> CommandLineSlip? {
        let ways = Usage.all(in: help)
        let lacking = ways.map { usage in
            usage.operands.dropFirst(operands) + usage.options.filter { !given.contains($0.name) }.map(\.text)
        }
        guard let usage = ways.first, let missing = lacking.first, let last = missing.last,
            !lacking.contains(where: \.isEmpty)
        else { return nil }
        let list = missing.count == 1 ? "\(last) is" : "\(missing.dropLast().joined(separator: ", ")) and \(last) are"
        let words = place.compactMap(\.self).joined(separator: " ")
        let example = Usage.example(of: words, in: help).map { "For example: \($0)" }
        return CommandLineSlip(message: "\(list) missing", advice: example ?? "Write \(usage.text).")
    }

    /// An operand that belongs to an option.
    private static func misplaced(
        _ operand: String, isFirst: Bool, _ options: Options
    ) -> CommandLineSlip? {
        let isType = operand.hasPrefix("_") && (operand.contains("._tcp") || operand.contains("._udp"))
        guard isType, !isFirst, options.long["--type"] == true else { return nil }
        return CommandLineSlip(
            message: "'\(operand)' is a type, which an option takes", advice: "Write --type \(operand).")
    }

    private static func unknownTopic(_ words: ArraySlice<String>, _ grammar: Grammar) -> CommandLineSlip? {
        guard let word = words.first(where: { !$0.hasPrefix("-") }), !grammar.commands.contains(word) else {
            return nil
        }
        return unknownCommand(word, among: grammar.commands, grammar)
    }

    private static func unknownCommand(
        _ word: String, among known: [String], _ grammar: Grammar, _ parent: String? = nil
    ) -> CommandLineSlip {
        let place = [grammar.program, parent].compactMap(\.self).joined(separator: " ")
        let nearest = grammar.synonyms[word.lowercased()] ?? Suggestion.nearest(to: word, among: known)
        return CommandLineSlip(
            message: "unknown command '\(word)'" + question(nearest),
            advice: "'\(place) --help' lists the commands.")
    }

    private static func unknownOption(
        _ option: String, _ options: Options, _ command: String?, _ grammar: Grammar
    ) -> CommandLineSlip {
        let nearest =
            grammar.synonyms[option]
            ?? (option.hasPrefix("--")
                ? Suggestion.nearest(
                    to: String(option.dropFirst(2)), among: options.long.keys.sorted().map { String($0.dropFirst(2)) }
                )
                .map { "--" + $0 } : nil)
        let place = [grammar.program, command].compactMap(\.self).joined(separator: " ")
        if option.count > 1, option.dropFirst().allSatisfy(\.isNumber) {
            return CommandLineSlip(
                message: "unknown option '\(option)'; a port, a number or a time is not below zero",
                advice: "'\(place) --help' lists the options.")
        }
        if !option.hasPrefix("--"), option.count > 2 {
            return CommandLineSlip(
                message: "unknown option '\(option)'",
                advice:
                    "What begins with a hyphen and is no option follows --: \(grammar.program) \(command ?? "COMMAND") -- \(option)"
            )
        }
        return CommandLineSlip(
            message: "unknown option '\(option)'" + question(nearest), advice: "'\(place) --help' lists the options.")
    }

    private static func question(_ nearest: String?) -> String { nearest.map { ". Did you mean '\($0)'?" } ?? "" }
}

/// Suggests what a mistyped word was meant to be.
package enum Suggestion {
    /// The nearest known word, of several the first; nil if none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let word = word.lowercased()
        guard word.count > 1, word.count <= 64 else { return nil }
        if let longer = known.filter({ $0.hasPrefix(word) }).min(by: { $0.count < $1.count }) { return longer }
        // Allow one slip per four letters.
        let limit = max(1, word.count / 4)
        let near = known.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.word
    }

    /// The number of letters to add, remove, change, or swap with the next one.
    static func distance(_ one: String, _ other: String) -> Int {
        let (a, b) = (Array(one.unicodeScalars), Array(other.unicodeScalars))
        var rows = [Array(0...b.count)]
        for (i, letter) in a.enumerated() {
            var row = [i + 1]
            for (j, candidate) in b.enumerated() {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == candidate ? 0 : 1))
                if i > 0, j > 0, letter == b[j - 1], a[i - 1] == candidate { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
