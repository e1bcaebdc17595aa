import CommandText
import DNSSD
import Glibc

/// What goes to standard error: never data, one `write` a message, every line begins with the program's name.
public struct ProgramNotices: Sendable {
    /// How much is said.
    public enum Level: Int, Comparable, Sendable {
        /// Errors only.
        case quiet
        /// What a person should know, too.
        case normal
        /// And what may matter to the curious.
        case verbose

        /// By how much is said.
        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// What every line begins with.
    public let program: String
    /// How much is said.
    public let level: Level

    /// Creates a writer.
    public init(program: String, level: Level = .normal) {
        self.program = program
        self.level = level
    }

    /// Something a person should know; not with `--quiet`.
    public func notice(_ text: String) {
        if level >= .normal { Self.write("\(program): \(text)\n") }
    }

    /// Something that may matter to the curious; only with `--verbose`.
    public func detail(_ text: String) {
        if level >= .verbose { Self.write("\(program): \(text)\n") }
    }

    /// Why the program failed, and what to do.
    public func failure(_ error: CommandError) {
        let lines = ["\(program): error: \(error.message)"] + error.advice.map { "  \($0)" }
        Self.write(lines.map { $0 + "\n" }.joined())
    }

    /// Writes text as it is, each line made safe for a terminal. A standard error that is closed or full is no reason to stop.
    public static func write(_ text: String) {
        let safe = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.safeForTerminal)
        let lines = safe.joined(separator: "\n")
        let isASCII = isatty(STDERR_FILENO) == 1 && !TerminalText.isUTF8()
        write(Array((isASCII ? lines.tamed(isUTF8: false) : lines).utf8))
    }

    /// Writes bytes that are safe for a terminal already.
    public static func write(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension StringProtocol {
    /// As `escapedForTerminal`, but character by character: text that is escaped already stays as it is.
    public var safeForTerminal: String {
        guard needsTerminalEscaping else { return String(self) }
        return unicodeScalars.map { String($0).escapedForTerminal }.joined()
    }
}
