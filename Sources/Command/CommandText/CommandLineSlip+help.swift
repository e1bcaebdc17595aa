extension CommandLineSlip {
    /// The options in a help text, each with whether it takes a value.
    struct Options {
        private(set) var long: [String: Bool] = [
            "--help": false, "--help-hidden": false, "--version": false, "--generate-completion-script": true,
            "--experimental-dump-help": false,
        ]
        private(set) var short: [Character: Bool] = ["h": false]

        init(_ help: String) {
            for line in help.split(separator: "\n") where line.hasPrefix("  -") {
                // The label ends at two blanks, or at the end of the line.
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

        /// The option in an argument, if it does not exist.
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

        /// Whether the next argument is this option's value.
        func takesNext(_ argument: String) -> Bool {
            if argument.hasPrefix("--") { return !argument.contains("=") && long[argument] == true }
            return argument.last.map { short[$0] == true } ?? false
        }
    }
}

extension CommandLineSlip {
    /// What a command line cannot do without, by a line of the usage in a help text. A value.
    struct Usage {
        /// As `<name>`.
        private(set) var operands: [String] = []
        /// As `--domain` and `--domain <domain>`.
        private(set) var options: [(name: String, text: String)] = []
        /// The line.
        let text: String

        /// Those of a help text, a line each.
        static func all(in help: String) -> [Usage] {
            let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
            let usage = lines.drop { !$0.hasPrefix("USAGE: ") }.prefix { !$0.isEmpty }
            return usage.map { Usage(String($0.dropFirst("USAGE: ".count))) }
        }

        private init(_ line: String) {
            text = line
            var option: String?
            for word in Self.required(text).split(separator: " ").map(String.init) {
                if word.hasPrefix("--"), word.count > 2 {
                    option = word
                } else if word.hasPrefix("<") {
                    if let option { options.append((option, "\(option) \(word)")) } else { operands.append(word) }
                    option = nil
                }
            }
        }

        /// The line without what is in brackets; those of `<[address:]port>` are no such.
        private static func required(_ line: String) -> String {
            var (depth, isName) = (0, false)
            return line.filter { letter in
                isName = letter == "<" || isName && letter != ">"
                guard !isName, letter != ">" else { return depth == 0 }
                if letter == "[" { depth += 1 }
                defer { if letter == "]" { depth -= 1 } }
                return depth == 0
            }
        }

        /// The first example of a command in its help.
        static func example(of words: String, in help: String) -> String? {
            help.split(separator: "\n").first { $0.hasPrefix("  \(words) ") }.map { line in
                // What it does follows two blanks.
                let text = line.dropFirst(2)
                return String(text.firstRange(of: "  ").map { text[..<$0.lowerBound] } ?? text)
            }
        }
    }
}
