internal import CommandText
internal import DNSSD
internal import Glibc

/// What goes to standard error: never data, one `write` a message, every line begins with `discoverd:`.
struct Notices: Sendable {
    enum Level: Int, Comparable, Sendable {
        case quiet, normal, verbose

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    var level = Level.normal

    /// Something a person should know; not with `--quiet`.
    func notice(_ text: String) {
        if level >= .normal { Self.write("discoverd: \(text)\n") }
    }

    /// Something that may matter to the curious; only with `--verbose`.
    func detail(_ text: String) {
        if level >= .verbose { Self.write("discoverd: \(text)\n") }
    }

    /// Why the command failed, and what to do.
    func failure(_ error: CommandError) {
        let lines = ["discoverd: error: \(error.message)"] + error.advice.map { "  \($0)" }
        Self.write(lines.map { $0 + "\n" }.joined())
    }

    /// Writes text as it is, each line made safe for a terminal. A standard error that is closed or full is no reason to stop.
    static func write(_ text: String) {
        // Character by character: messages of the library are escaped already, and stay as they are.
        let safe = text.unicodeScalars.map { $0 == "\n" ? "\n" : String($0).escapedForTerminal }.joined()
        let isASCII = isatty(STDERR_FILENO) == 1 && !TerminalText.isUTF8()
        write(Array((isASCII ? safe.tamed(isUTF8: false) : safe).utf8))
    }

    /// Writes bytes that are safe for a terminal already.
    static func write(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { buffer in unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress, buffer.count)
        }
    }
}
