import Foundation
import NIOCore

/// The side of the two streams: opening, querying, closing.
extension StreamConnection {
    /// The pair of streams; nil if it was taken before.
    func take() -> (InputStream, OutputStream)? {
        let isFirst = locked { value in
            defer { value.isTaken = true }
            return !value.isTaken
        }
        guard isFirst else { return nil }
        let input = ConnectionInputStream(self)
        let output = ConnectionOutputStream(self)
        locked { value in
            value.inputChanged = input.events.changed
            value.outputChanged = output.events.changed
        }
        return (input, output)
    }

    /// Closes a connection that no one took.
    func closeUnlessTaken() {
        if !locked({ $0.isTaken }) { close() }
    }

    var phase: Phase { locked { $0.phase } }
    var hasBytes: Bool { locked { $0.received.readableBytes > 0 } }
    var isAtEnd: Bool { locked { $0.isAtEnd && $0.received.readableBytes == 0 } }
    var hasSpace: Bool {
        locked { value in
            guard case .open = value.phase else { return false }
            return value.sending < Self.capacity && value.output != .closed
        }
    }

    func open(_ direction: Direction) {
        let isFirst = locked { value in
            value[direction] = .open
            guard case .idle = value.phase, target != nil else { return false }
            value.phase = .connecting
            return true
        }
        if isFirst { connect() } else { change { _ in } }
    }

    /// Ends one direction; the connection ends once neither is open.
    func close(_ direction: Direction) {
        let (channel, isOver) = locked { value -> ((any Channel)?, Bool) in
            guard value[direction] != .closed else { return (nil, false) }
            value[direction] = .closed
            return (value.channel, value[direction.other] != .open)
        }
        if isOver { close() } else if direction == .output { channel?.close(mode: .output, promise: nil) }
    }

    /// A stream was released. If it was never opened, the connection stays with the other.
    func dropped(_ direction: Direction) {
        let mustClose = locked { value in
            guard value[direction] == .unopened, value[direction.other] != .closed else { return true }
            value[direction] = .closed
            return false
        }
        if mustClose { close(direction) }
    }

    /// Ends the connection after sending what was written, within 30 s.
    func close() {
        let (channel, task, isSent) = locked { value -> ((any Channel)?, Task<Void, Never>?, Bool) in
            guard !value.isOver else { return (nil, nil, false) }
            value.isOver = true
            if case .failed = value.phase {} else { value.phase = .closed }
            value.received.clear()
            return (value.channel, value.task, value.sending == 0)
        }
        wake()
        task?.cancel()
        guard let channel else { return }
        if isSent { return channel.close(promise: nil) }
        channel.eventLoop.scheduleTask(in: .seconds(30)) { channel.close(promise: nil) }
    }
}
