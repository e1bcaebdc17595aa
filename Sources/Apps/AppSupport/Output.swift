import DNSSD
public import DiscoveryJSON
import Glibc
import Synchronization

/// Standard output: whole lines, from any task; ends the program cleanly when nobody reads any more.
public final class Output: Sendable {
    /// Whether a person looks at it.
    public let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether it is a terminal that can do more than print lines.
    public let canMoveCursor: Bool
    /// Whether colours are welcome (https://no-color.org).
    public let hasColour: Bool
    private let lock = Mutex(())

    init() {
        let refuses = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
        canMoveCursor = isTerminal && !terminal.isEmpty && terminal != "dumb"
        hasColour = canMoveCursor && !refuses
    }

    /// Prints one line, made safe for a terminal.
    public func line(_ text: String) { write(Array((text.safeForTerminal + "\n").utf8)) }

    /// Prints one line of JSON (docs/contract.md, section 3).
    public func json(_ event: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
        var writer = JSONWriter()
        writer.line(event, members)
        write(writer.bytes)
    }

    /// Writes bytes as they are: never what came from the network.
    public func write(_ bytes: [UInt8]) {
        let isOpen = lock.withLock { _ in Self.write(bytes, to: STDOUT_FILENO) }
        if !isOpen { AppRunner.stop() }
    }

    /// - Returns: whether everything was written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // Shared with a program that made it non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// Standard error: every line begins with the program's name.
public struct Notices: Sendable {
    let program: String

    /// Something a person should know.
    public func notice(_ text: String) { self.text("\(program): \(text)\n") }

    /// Why the program failed, and what to do.
    public func failure(_ error: AppError) {
        text("\(program): error: \(error.message)\n" + error.advice.map { "  \($0)\n" }.joined())
    }

    /// A standard error that is closed is no reason to stop.
    func text(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.safeForTerminal)
        let end = text.hasSuffix("\n") ? "" : "\n"
        _ = Output.write(Array((lines.joined(separator: "\n") + end).utf8), to: STDERR_FILENO)
    }
}

extension StringProtocol {
    /// As `escapedForTerminal`, but character by character: text that is escaped already stays as it is.
    public var safeForTerminal: String {
        guard needsTerminalEscaping else { return String(self) }
        return unicodeScalars.map { String($0).escapedForTerminal }.joined()
    }
}
