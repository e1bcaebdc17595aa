import AppSupport
import CTerminal
import Glibc

/// Reads standard input on a thread of its own, because that blocks; no further than the queue has room.
struct InputThread: Sendable {
    /// How long a sequence may take to arrive before its escape is a key: what vim and readline wait, and more than ssh needs.
    private static let pause: Int32 = 50
    private static let longestLine = 4096

    let queue: EventQueue
    let isRaw: Bool

    /// Starts it; it ends with standard input, or with the process.
    func start() {
        if !BlockingThread.start({ run() }) { queue.push(.ended) }
    }

    private func run() {
        var keys = KeyDecoder()
        var lines = LineFraming(limit: Self.longestLine)
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let ready = wait(keys.isWaiting)
            if cterminal_take_redraw() { queue.push(.redraw) }
            switch ready {
            case .nothing: continue
            case .paused: push(keys.paused())
            case .input:
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                guard count > 0 else {
                    if let rest = lines.ended() { push(.line(rest)) }
                    return queue.push(.ended)
                }
                if isRaw {
                    push(keys.received(buffer.prefix(count)))
                } else {
                    for line in lines.received(buffer.prefix(count)) { push(line) }
                }
            }
        }
    }

    private enum Ready { case input, paused, nothing }

    /// Waits for input while there is room for it, and for what else wakes the thread.
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
            while read(waiting[0].fd, &bytes, bytes.count) == bytes.count {}
        }
        return waiting[1].revents != 0 ? .input : .nothing
    }

    private func push(_ keys: [Key]) {
        for key in keys { queue.push(.key(key)) }
    }

    private func push(_ line: LineFraming.Line) {
        // A line that long is nothing that a person types; an empty one is.
        if case .line(let bytes) = line { queue.push(.line(String(decoding: bytes, as: UTF8.self))) }
    }
}
