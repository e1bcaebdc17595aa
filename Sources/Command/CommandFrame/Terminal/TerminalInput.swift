public import CommandText
import DiscoverySystem
import Libc
import Synchronization

/// Makes events of bytes.
public protocol TerminalInputDecoder: Sendable {
    /// A key may be incomplete: `paused` is to be called if nothing more comes.
    var isWaiting: Bool { get }
    /// More bytes were read.
    mutating func received(_ bytes: [UInt8]) -> [TerminalEvent]
    /// Nothing came for a moment.
    mutating func paused() -> [TerminalEvent]
    /// No more will come.
    mutating func ended() -> [TerminalEvent]
}

/// The keys of a terminal.
struct KeyInput: TerminalInputDecoder {
    private var keys = KeyDecoder()

    var isWaiting: Bool { keys.isWaiting }
    mutating func received(_ bytes: [UInt8]) -> [TerminalEvent] { keys.received(bytes).map { .key($0) } }
    mutating func paused() -> [TerminalEvent] { keys.paused().map { .key($0) } }
    mutating func ended() -> [TerminalEvent] { [] }
}

/// Reads standard input on a separate thread, because reading blocks; only as long as the queue has room.
public final class TerminalInput<Decoder: TerminalInputDecoder>: Sendable {
    /// How long to wait before an escape counts as a key of its own: as long as vim and readline wait, and longer than ssh needs.
    private static var pause: Int32 { 50 }

    private let queue: TerminalEventQueue
    private let decoder: Decoder
    /// Held while reading: after `stop`, standard input belongs to someone else.
    private let isReading = Mutex(true)

    /// Creates a reader; `start` starts it.
    public init(queue: TerminalEventQueue, decoder: Decoder) {
        self.queue = queue
        self.decoder = decoder
    }

    /// Starts the thread; it ends with standard input, with `stop`, or with the process.
    public func start() {
        _ = RawTerminal.wakeups
        do throws(CommandError) { try BlockingThread.start { self.run() } } catch { queue.push(.ended) }
    }

    /// Stops reading.
    public func stop() {
        isReading.withLock { $0 = false }
        RawTerminal.wake()
    }

    private func run() {
        var decoder = decoder
        while isReading.withLock({ $0 }) {
            let ready = wait(decoder.isWaiting)
            if RawTerminal.takeRedraw() { queue.push(.redraw) }
            switch ready {
            case .nothing: continue
            case .paused: push(decoder.paused())
            case .input:
                guard let bytes = read() else { continue }
                guard !bytes.isEmpty else {
                    push(decoder.ended())
                    return queue.push(.ended)
                }
                push(decoder.received(bytes))
            }
        }
    }

    private enum Ready { case input, paused, nothing }

    /// Waits for input while the queue has room, or for another reason to wake.
    private func wait(_ isKeyIncomplete: Bool) -> Ready {
        let input = Int16(POLLIN)
        let wanted = queue.hasRoom ? STDIN_FILENO : -1
        var waiting = [
            pollfd(fd: RawTerminal.wakeups, events: input, revents: 0), pollfd(fd: wanted, events: input, revents: 0),
        ]
        let count = unsafe poll(&waiting, 2, isKeyIncomplete ? Self.pause : -1)
        if count == 0 { return .paused }
        guard count > 0 else { return .nothing }
        if waiting[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            while unsafe Libc.read(waiting[0].fd, &bytes, bytes.count) == bytes.count {}
        }
        return waiting[1].revents != 0 ? .input : .nothing
    }

    /// - Returns: the bytes, empty at the end; nil if there is nothing to read, or reading has stopped.
    private func read() -> [UInt8]? {
        isReading.withLock { isReading in
            // The input that poll(2) saw may be gone: Ctrl-Z drops it.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard isReading, unsafe poll(&input, 1, 0) == 1 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = unsafe Libc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { return nil }
            return Array(buffer.prefix(max(count, 0)))
        }
    }

    private func push(_ events: [TerminalEvent]) {
        for event in events { queue.push(event) }
    }
}

/// Input events that the program has not handled yet. Unlike an `AsyncStream`, it survives the cancellation of a waiting task.
public final class TerminalEventQueue: Sendable {
    /// The maximum number of queued events; further input stays in the terminal or pipe.
    static let capacity = 64

    private struct State {
        var events: [TerminalEvent] = []
        var hasEnded = false
    }

    private let state = Awaited(State())

    /// Creates an empty queue.
    public init() {}

    var hasRoom: Bool { state.value.events.count < Self.capacity }

    /// Adds an event; input waits in the terminal while there is no room.
    public func push(_ event: TerminalEvent) {
        state.change { state in
            switch event {
            case .ended: state.hasEnded = true
            // One redraw is enough.
            case .redraw where state.events.last == .redraw: break
            case .key, .line, .redraw: state.events.append(event)
            }
        }
    }

    /// Puts events back in front of all others.
    public func putBack(_ events: [TerminalEvent]) { state.change { $0.events.insert(contentsOf: events, at: 0) } }

    /// The next event; nil when the task is cancelled.
    public func next() async -> TerminalEvent? {
        // There may be room again.
        defer { RawTerminal.wake() }
        return await state.wait { state in
            state.events.isEmpty ? (state.hasEnded ? .ended : nil) : state.events.removeFirst()
        }
    }
}
