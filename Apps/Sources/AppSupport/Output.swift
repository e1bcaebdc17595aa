import CommandFrame
public import DiscoveryJSON
import Glibc
import Synchronization

/// Standard output: takes whole lines from any task; ends the program cleanly once no one reads any more.
public final class Output: Sendable {
    /// Whether it is a terminal.
    public let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether it is a terminal that can move its cursor.
    public let canMoveCursor: Bool
    /// Whether colours are wanted (https://no-color.org).
    public let hasColour: Bool
    private let stop: Stop
    private let lock = Mutex(())

    init(_ stop: Stop) {
        self.stop = stop
        let refuses = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
        canMoveCursor = isTerminal && !terminal.isEmpty && terminal != "dumb"
        hasColour = canMoveCursor && !refuses
    }

    /// Prints one line, escaped for a terminal.
    public func line(_ text: String) { write(Array((text.safeForTerminal + "\n").utf8)) }

    /// Prints one line of JSON (docs/contract/json.md).
    public func json(_ event: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
        var writer = JSONWriter()
        writer.line(event, members)
        write(writer.bytes)
    }

    /// Writes bytes as is; never data from the network.
    public func write(_ bytes: [UInt8]) {
        let failure = lock.withLock { _ in Descriptor.write(bytes, to: STDOUT_FILENO) }
        if failure != nil { stop.request(.unread) }
    }
}
