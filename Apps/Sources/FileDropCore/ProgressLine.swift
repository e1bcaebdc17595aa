import CommandText

/// A progress bar as text: `photo.jpg  [#####-----]  50%  12.3 MB/s  0:07`.
public struct ProgressLine: Hashable, Sendable {
    /// Transferred bytes.
    public var done: Int64
    /// Total bytes, if known.
    public var total: Int64?
    /// Time since the start.
    public var elapsed: Duration
    /// The file's name, safe for a terminal.
    public var name: String

    /// Creates a line.
    public init(name: String, done: Int64, total: Int64?, elapsed: Duration) {
        self.name = name
        self.done = done
        self.total = total
        self.elapsed = elapsed
    }

    /// The line in at most `columns` terminal columns.
    public func text(columns: Int) -> String {
        let rate = elapsed > .milliseconds(200) ? Double(done) / (elapsed / .seconds(1)) : 0
        // The other side may announce more than any link can carry.
        let speed = rate > 0 ? "\(Self.size(Int64(min(rate, 1e18))))/s" : ""
        guard let total, total > 0 else { return Self.fit("\(name)  \(Self.size(done))  \(speed)", columns) }
        let part = min(1, Double(done) / Double(total))
        let rest = rate > 0 ? Self.clock(Int64(min(Double(max(0, total - done)) / rate, 1e9))) : ""
        let bar = String(repeating: "#", count: Int(part * 20)) + String(repeating: "-", count: 20 - Int(part * 20))
        let tail = "  [\(bar)] \(Int(part * 100))%  \(speed)  \(rest)"
        return Self.fit(name, columns - tail.count) + tail
    }

    /// `12 B`, `1.5 MB`; powers of 1000.
    public static func size(_ bytes: Int64) -> String {
        var value = Double(bytes)
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        while value >= 1000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        guard unit > 0 else { return "\(bytes) B" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static func clock(_ seconds: Int64) -> String {
        guard seconds < 360_000 else { return "" }
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = "\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds >= 3600 ? "\(seconds / 3600):\(minutes)" : "\(seconds / 60):\(two(seconds % 60))"
    }

    private static func fit(_ text: String, _ columns: Int) -> String {
        DisplayWidth.of(text) <= max(8, columns) ? text : "…" + text.tail(columns: max(8, columns) - 1)
    }
}
