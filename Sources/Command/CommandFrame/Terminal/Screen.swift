import CLinux
public import CommandText
import Synchronization

/// The terminal as a screen: canvases are shown, keys come as events. One at a time.
public final class Screen: Sendable {
    private let queue: TerminalEventQueue
    private let input: TerminalInput<KeyInput>
    private let renderer: Mutex<Renderer>
    private let isOpen = Mutex(true)

    /// Takes the terminal.
    /// - Parameters:
    ///   - use: what of the terminal is taken.
    ///   - ability: what the terminal can show.
    ///   - queue: receives the keys.
    /// - Returns: nil where there is none, or where another job has it.
    public init?(_ use: RawTerminal.Use, _ ability: Renderer.Ability, queue: TerminalEventQueue = TerminalEventQueue())
    {
        guard RawTerminal.enter(use) else { return nil }
        self.queue = queue
        renderer = Mutex(Renderer(ability))
        input = TerminalInput(queue: queue, decoder: KeyInput())
        input.start()
    }

    /// The next event; nil when the task is cancelled.
    public func next() async -> TerminalEvent? { await queue.next() }

    /// The current size.
    public var size: ScreenSize { RawTerminal.size }

    /// Makes the screen show a canvas, by what changed; with `anew`, all of it. Does nothing after `close`.
    /// - Returns: false if no one sees it any more.
    public func draw(_ canvas: Canvas, anew: Bool = false) -> Bool {
        isOpen.withLock { isOpen in
            guard isOpen else { return true }
            return RawTerminal.draw(renderer.withLock { $0.draw(canvas, anew: anew) })
        }
    }

    /// Restores the terminal, and stops reading from it.
    public func close() {
        input.stop()
        isOpen.withLock { isOpen in
            isOpen = false
            RawTerminal.restore()
        }
    }
}

/// The process's terminal, standard input and output, whose keys are taken as they are typed. It is restored however the process ends,
/// except by SIGKILL, and while Ctrl-Z suspends it. Ctrl-C still sends its signal.
public enum RawTerminal {
    /// What the terminal is for.
    public enum Use: Sendable {
        /// Keys alone, below text that scrolls.
        case keys
        /// The alternate screen. Pasted characters are reported as pasted.
        case screen
        /// The alternate screen, with the mouse, which then selects no text.
        case screenWithMouse
    }

    /// Takes the terminal.
    /// - Returns: false where there is none, or where another job has it.
    public static func enter(_ use: Use) -> Bool {
        guard cterminal_enter(use != .keys, use == .screenWithMouse) else { return false }
        ProcessEnd.before { cterminal_restore() }
        return true
    }

    /// Gives the terminal back as it was.
    public static func restore() { cterminal_restore() }

    /// Whether this process may read standard input: it is no terminal, or this is the terminal's foreground job.
    public static var mayRead: Bool { cterminal_may_read() }

    /// Writes to the screen, from one thread at a time; nothing once Ctrl-Z or `restore` has given it back.
    /// - Returns: false if no one sees it any more.
    static func draw(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe cterminal_draw(start, bytes.count)
        }
    }

    /// A descriptor that becomes readable when the screen is to be drawn anew, and after `wake`; -1 without descriptors left. Read it empty.
    public static var wakeups: Int32 { cterminal_wakeups() }

    /// Makes `wakeups` readable.
    public static func wake() { cterminal_wake() }

    /// Takes a signal's wish to have the screen drawn anew.
    public static func takeRedraw() -> Bool { cterminal_take_redraw() }

    /// The size of standard output's terminal; 80×24 where it says none.
    public static var size: ScreenSize {
        var (rows, columns) = (Int32(0), Int32(0))
        guard unsafe cterminal_size(&rows, &columns) else { return .standard }
        return ScreenSize(columns: Int(columns), rows: Int(rows))
    }
}
