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
