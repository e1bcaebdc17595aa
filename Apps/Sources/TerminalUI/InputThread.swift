import AppSupport
import CTerminal
import CommandFrame
import Glibc
import Synchronization

/// Reads standard input on a separate thread, because reading blocks; only as long as the queue has room.
final class InputThread: Sendable {
    /// How long to wait before an escape counts as a key of its own: as long as vim and readline wait, and longer than ssh needs.
    private static let pause: Int32 = 50
    private static let longestLine = 4096

    private let queue: EventQueue
    private let isRaw: Bool
    /// Held while reading: after `stop`, standard input belongs to someone else.
    private let isReading = Mutex(true)

    init(queue: EventQueue, isRaw: Bool) {
        self.queue = queue
        self.isRaw = isRaw
    }

    /// Starts the thread; it ends with standard input, with `stop`, or with the process.
    func start() {
        do throws(CommandError) { try BlockingThread.start { self.run() } } catch { queue.push(.ended) }
    }

    /// Stops reading.
    func stop() {
        isReading.withLock { $0 = false }
        cterminal_wake()
    }

    private func run() {
        var keys = KeyDecoder()
        var lines = LineFraming(limit: Self.longestLine)
        while isReading.withLock({ $0 }) {
            let ready = wait(keys.isWaiting)
            if cterminal_take_redraw() { queue.push(.redraw) }
            switch ready {
            case .nothing: continue
            case .paused: push(keys.paused())
            case .input:
                guard let bytes = read() else { continue }
                guard !bytes.isEmpty else {
                    if let rest = lines.ended() { push(.line(rest)) }
                    return queue.push(.ended)
                }
                if isRaw {
                    push(keys.received(bytes))
                } else {
                    for line in lines.received(bytes) { push(line) }
                }
            }
        }
    }

    private enum Ready { case input, paused, nothing }

    /// Waits for input while the queue has room, or for another reason to wake.
    private func wait(_ isKeyIncomplete: Bool) -> Ready {
        let input = Int16(POLLIN)
        let wanted = queue.hasRoom ? STDIN_FILENO : -1
        var waiting = [
            pollfd(fd: cterminal_wakeups(), events: input, revents: 0), pollfd(fd: wanted, events: input, revents: 0),
        ]
        let count = poll(&waiting, 2, isKeyIncomplete ? Self.pause : -1)
        if count == 0 { return .paused }
        guard count > 0 else { return .nothing }
        if waiting[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            while Glibc.read(waiting[0].fd, &bytes, bytes.count) == bytes.count {}
        }
        return waiting[1].revents != 0 ? .input : .nothing
    }

    /// - Returns: the bytes, empty at the end; nil if there is nothing to read, or reading has stopped.
    private func read() -> [UInt8]? {
        isReading.withLock { isReading in
            // The input that poll(2) saw may be gone: Ctrl-Z drops it.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard isReading, poll(&input, 1, 0) == 1 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { return nil }
            return Array(buffer.prefix(max(count, 0)))
        }
    }

    private func push(_ keys: [Key]) {
        for key in keys { queue.push(.key(key)) }
    }

    private func push(_ line: LineFraming.Line) {
        // No person types a line that long, but a person may type an empty one.
        if case .line(let bytes) = line { queue.push(.line(String(decoding: bytes, as: UTF8.self))) }
    }
}
