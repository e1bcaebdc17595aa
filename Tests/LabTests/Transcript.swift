import Foundation
import Testing

/// A command that a person types on a host of the lab, and what the terminal shows then, as a block of a document has it: `h1$ COMMAND`, and
/// lines after it. A line `...` stands for lines that are left out; what follows `(yes/no)?` is typed.
struct Transcript {
    let host: String
    let command: String
    private(set) var lines: [String] = []

    static func all(in block: String) -> [Transcript] {
        var all: [Transcript] = []
        for line in block.components(separatedBy: "\n").dropFirst() {
            if let match = line.wholeMatch(of: /(h\d)\$ (.+)/) {
                all.append(Transcript(host: String(match.1), command: String(match.2)))
            } else if !all.isEmpty {
                all[all.count - 1].lines.append(line)
            }
        }
        return all
    }

    private static let question = "(yes/no)?"

    /// Whether it asks a person, and so waits for another one.
    private var asks: Bool { lines.contains { $0.contains(Self.question) } }

    /// Plays some on terminals. Those that ask run together with the next ones that ask.
    static func play(_ all: [Transcript], on screens: [String: TerminalScreen]) async throws {
        var open: [Transcript] = []
        for transcript in all {
            if !transcript.asks {
                try await finish(open, on: screens)
                open = []
            }
            try await transcript.screen(in: screens).run("clear; \(transcript.command)")
            open.append(transcript)
            if !transcript.asks {
                try await finish(open, on: screens)
                open = []
            }
        }
        try await finish(open, on: screens)
    }

    private static func finish(_ open: [Transcript], on screens: [String: TerminalScreen]) async throws {
        for transcript in open {
            guard let index = transcript.lines.firstIndex(where: { $0.contains(question) }) else { continue }
            let asked = transcript.lines[index].components(separatedBy: question)
            let screen = try transcript.screen(in: screens)
            try await screen.shows(ShownText(transcript.lines[..<index] + [asked[0] + question]))
            try await screen.run(asked[1].trimmingCharacters(in: .whitespaces))
            // What it says of an answer may depend on who answers first.
            try await screen.shows(ShownText(transcript.lines.prefix(index + 2) + ["..."]))
        }
        for transcript in open {
            // It serves until it is stopped, and no prompt follows.
            let end = transcript.command.hasPrefix("discoverd listen ") ? [] : ["$"]
            try await transcript.screen(in: screens).shows(ShownText(transcript.lines + end))
        }
    }

    private func screen(in screens: [String: TerminalScreen]) throws -> TerminalScreen {
        try #require(screens[host], "no terminal on \(host)")
    }
}

/// Lines of a terminal without what differs from one time to the next: keys, codes, ports that were free, times, addresses that a link made up.
struct ShownText {
    /// What stands between lines that are left out.
    private let parts: [String]

    init(_ lines: [String]) {
        parts = lines.split(separator: "...", omittingEmptySubsequences: false).map { Self.steady(Array($0)) }
    }

    private static func steady(_ lines: [String]) -> String {
        lines.joined(separator: " ")
            .replacing(/fe80::?[0-9a-f:]*…?/, with: "fe80::")
            .replacing(/SHA256:[A-Za-z0-9+\/]+/, with: "SHA256:")
            .replacing(/\b\d{3} \d{3}\b/, with: "CODE")
            .replacing(/\b20\d\d-\d\d-\d\d\b/, with: "DATE")
            .replacing(/\bport \d{5}\b/, with: "port PORT")
            .replacing(/\bpid \d+/, with: "pid PID")
            .replacing(/\b\d+ ms\b/, with: "TIME")
            // Lines are broken where the width wants it.
            .filter { !$0.isWhitespace }
    }

    /// Whether a screen shows this, and nothing else.
    func matches(_ screen: [String]) -> Bool {
        var rest = Self.steady(screen)[...]
        guard parts.count > 1 else { return rest == parts[0] }
        guard rest.hasPrefix(parts[0]) else { return false }
        rest = rest.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }

    var text: String { parts.joined(separator: "...") }
}

extension TerminalScreen {
    /// Waits until it shows just this.
    func shows(_ text: ShownText) async throws { try await shows(text.text) { text.matches($0) } }
}
