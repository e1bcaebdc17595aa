import CommandText
import DNSSD
import Libc

/// Writes messages to standard error: never data, one `write` per message. What a message says stays on its line, whoever's words it has.
public struct ProgramNotices: Sendable {
    /// How much to say.
    public enum Level: Int, Comparable, Sendable {
        /// Errors only.
        case quiet
        /// Also what a person should know.
        case normal
        /// Also what may matter to the curious.
        case verbose

        /// Orders levels by how much they say.
        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// The prefix of every line.
    public let program: String
    /// How much to say.
    public let level: Level

    /// Creates a writer.
    public init(program: String, level: Level = .normal) {
        self.program = program
        self.level = level
    }

    /// Prints what a person should know; not with `--quiet`.
    public func notice(_ text: String) {
        if level >= .normal { Self.write("\(program): \(text.safeForTerminal)\n") }
    }

    /// Prints what may matter to the curious; only with `--verbose`.
    public func detail(_ text: String) {
        if level >= .verbose { Self.write("\(program): \(text.safeForTerminal)\n") }
    }

    /// Prints why the program failed, and the advice.
    public func failure(_ error: CommandError) {
        let lines = ["\(program): error: \(error.message)"] + error.advice.map { "  \($0)" }
        Self.write(lines.map { $0.safeForTerminal + "\n" }.joined())
    }

    /// Writes text as is, but safe for a terminal. Ignores errors: a closed or full standard error is no reason to stop.
    public static func write(_ text: String) {
        let safe = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.safeForTerminal)
        let lines = safe.joined(separator: "\n")
        let isASCII = isatty(STDERR_FILENO) == 1 && !TerminalText.isUTF8()
        write(Array((isASCII ? lines.tamed(isUTF8: false) : lines).utf8))
    }

    /// Writes bytes that are already safe for a terminal.
    public static func write(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { unsafe Libc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension StringProtocol {
    /// Like `escapedForTerminal`, but works character by character, so text that is already escaped stays unchanged.
    public var safeForTerminal: String {
        guard needsTerminalEscaping else { return String(self) }
        return unicodeScalars.map { String($0).escapedForTerminal }.joined()
    }
}
