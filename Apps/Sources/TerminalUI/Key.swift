/// What a person did at a terminal.
public enum Key: Hashable, Sendable {
    /// A character was typed.
    case character(Character)
    case up, down, left, right, enter, escape, backspace
    /// A mouse button went down; column and row begin with 0.
    case pressed(column: Int, row: Int)
    /// A mouse button went up.
    case released(column: Int, row: Int)
}

/// What comes from standard input.
public enum TerminalEvent: Hashable, Sendable {
    /// From a terminal in raw mode.
    case key(Key)
    /// A line, where there is no terminal; without its end, cut to 4096 bytes.
    case line(String)
    /// The screen has another size, or was used by another program: draw it anew.
    case redraw
    /// No more will come. It is told again and again.
    case ended
}
