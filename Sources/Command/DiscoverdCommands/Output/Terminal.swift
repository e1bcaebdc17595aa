#if Commands
internal import CommandText
internal import Libc
internal import DiscoverySystem

/// What standard output can show.
struct Terminal: Sendable {
    /// Connected to a terminal: columns are aligned.
    let isInteractive: Bool
    /// Colours are wanted (https://no-color.org).
    let hasColour: Bool
    /// Can be drawn on.
    let movesCursor: Bool
    /// Shows more than ASCII.
    let isUTF8: Bool

    /// The current width; 80 if unknown.
    var columns: Int { TerminalText.columns(STDOUT_FILENO) ?? 80 }

    /// Standard output of this process.
    static func current() -> Terminal {
        let interactive = isatty(STDOUT_FILENO) == 1
        let isDumb = ["", "dumb"].contains(Environment.value("TERM") ?? "dumb")
        let isPlain = isDumb || Environment.value("NO_COLOR") != nil
        return Terminal(
            isInteractive: interactive, hasColour: interactive && !isPlain,
            movesCursor: interactive && !isDumb, isUTF8: !interactive || TerminalText.isUTF8())
    }
}

extension Terminal {
    /// The same for lines that are drawn on a screen, which have no colours in them.
    var onScreen: Terminal {
        Terminal(isInteractive: true, hasColour: false, movesCursor: movesCursor, isUTF8: isUTF8)
    }

    /// The same for lines that are not aligned.
    var asPipe: Terminal { Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: isUTF8) }
}

/// The colours in use.
enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
}

extension Terminal {
    /// The text in a colour, if colours are wanted.
    func paint(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
#endif
