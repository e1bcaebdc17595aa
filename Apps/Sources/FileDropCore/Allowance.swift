/// How much a sender announced, and no more may come: a person has said yes to that much.
public struct Allowance: Hashable, Sendable {
    private var entries: Int64
    private var bytes: Int64

    /// What was announced.
    public init(entries: Int64, bytes: Int64) {
        self.entries = entries
        self.bytes = bytes
    }

    /// - Returns: whether an entry is within what was announced.
    public mutating func takes(_ entry: Entry) -> Bool {
        entries -= 1
        bytes -= entry.size
        return entries >= 0 && bytes >= 0
    }
}
