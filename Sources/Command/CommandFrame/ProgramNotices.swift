import CommandText
import DNSSD
import DiscoverySystem
import Libc

/// Writes messages to standard error: never data, one `write` per message. A message stays on its line, whatever text it quotes.
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

    /// Prints that a spelling goes with the next version, or what a word is taken for: to a person at a terminal, elsewhere only with
    /// `--verbose`, for scripts may take any word on standard error for a failure.
    public func hint(_ text: String) {
        if level == .verbose || (level >= .normal && isatty(STDERR_FILENO) == 1) {
            Self.write("\(program): \(text.safeForTerminal)\n")
        }
    }

    /// Prints why the program failed, and the advice.
    public func failure(_ error: CommandError) {
        let lines = ["\(program): error: \(error.message)"] + error.advice.map { "  \($0)" }
        Self.write(lines.map { $0.safeForTerminal + "\n" }.joined())
    }

    /// Writes text as is, but safe for a terminal. Ignores errors: a closed or full standard error is no reason to stop.
    public static func write(_ text: String) {
        let lines = text.linesSafeForTerminal
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
    public var safeForTerminal: String { oneLine }

    /// The same, of each line.
    var linesSafeForTerminal: String {
        split(separator: "\n", omittingEmptySubsequences: false).map(\.oneLine).joined(separator: "\n")
    }
}

/// Limits the rate of log lines: a burst, then one every few seconds. Suppressed lines are counted.
public struct LinePace: Sendable {
    /// How many lines a burst may have.
    public static let burst = 20
    /// How long until another line is allowed.
    public static let interval = Duration.seconds(5)

    private var last: ContinuousClock.Instant
    private var free = Self.burst
    private var suppressed = 0

    /// Creates a pace with the whole burst available.
    public init(now: ContinuousClock.Instant) { last = now }

    /// Asks to show a line.
    /// - Returns: how many were suppressed since the last one; nil if this one is suppressed too.
    public mutating func line(now: ContinuousClock.Instant) -> Int? {
        let steps = max(0, (now - last) / Self.interval)
        if steps >= Double(Self.burst - free) {
            (free, last) = (Self.burst, now)
        } else if steps >= 1 {
            free += Int(steps)
            last += Self.interval * Int(steps)
        }
        guard free > 0 else {
            suppressed += 1
            return nil
        }
        if free == Self.burst { last = now }
        free -= 1
        defer { suppressed = 0 }
        return suppressed
    }
}

/// Notices that others can cause at will: a burst, then one every few seconds, which says how many were not shown.
public final class PacedNotices: Sendable {
    private let notices: ProgramNotices
    private let pace = Locked(LinePace(now: .now))

    /// Creates a writer with the whole burst available.
    public init(_ notices: ProgramNotices) { self.notices = notices }

    /// Prints what a person should know.
    public func notice(_ text: String) { tell { $0.notice(text) } }

    /// Prints why something failed, and the advice.
    public func failure(_ error: CommandError) { tell { $0.failure(error) } }

    private func tell(_ body: (ProgramNotices) -> Void) {
        guard let suppressed = pace.withLock({ $0.line(now: .now) }) else { return }
        if suppressed > 0 { notices.notice("\(suppressed) more like these were not shown") }
        body(notices)
    }
}
