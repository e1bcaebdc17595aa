/// A person's action at a terminal.
public enum Key: Hashable, Sendable {
    /// A character was typed.
    case character(Character)
    /// An arrow.
    case up
    /// An arrow.
    case down
    /// An arrow.
    case left
    /// An arrow.
    case right
    /// One screen up.
    case pageUp
    /// One screen down.
    case pageDown
    /// To the beginning.
    case home
    /// To the end.
    case end
    /// The end of a line of input.
    case enter
    /// Escape on its own, without a sequence after it.
    case escape
    /// Deletes the character before the cursor.
    case backspace
    /// A character was pasted.
    case pasted(Character)
    /// A mouse button went down; columns and rows count from 0.
    case pressed(column: Int, row: Int)
    /// A mouse button went up.
    case released(column: Int, row: Int)
}

/// An event from standard input.
public enum TerminalEvent: Hashable, Sendable {
    /// From a terminal in raw mode.
    case key(Key)
    /// A line, if there is no terminal; without its terminator, cut to 4096 bytes.
    case line(String)
    /// The screen was resized, or used by another program: redraw it completely.
    case redraw
    /// No more input will come. Reported every time from then on.
    case ended
}
