import DNSSD
import Discovery
import DiscoveryNIO
import Foundation
import NIOCore

/// A TCP connection under a pair of streams: bytes that came and were not read, bytes that are on their way out.
///
/// `@unchecked` holds since everything that changes is in `value`, which is touched with `condition` locked. Reading from
/// the network stops while 64 KiB wait to be read, and writing says that there is no space while 64 KiB wait to be sent.
final class StreamConnection: @unchecked Sendable {
    static let capacity = 64 * 1024

    enum Phase { case idle, connecting, open, failed(NSError), closed }

    /// What a stream does with its direction.
    fileprivate enum Use { case unopened, open, closed }

    fileprivate struct Value {
        var phase = Phase.idle
        var channel: (any Channel)?
        var received = ByteBuffer()
        var isAtEnd = false
        var sending = 0
        var wantsRead = false
        var input = Use.unopened
        var output = Use.unopened
        /// Nobody uses it any more; the channel is closed when everything is sent.
        var isOver = false
        var isTaken = false
        var inputChanged: (@Sendable () -> Void)?
        var outputChanged: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
    }

    private let condition = NSCondition()
    private var value = Value()
    /// Makes the connection when a stream is opened; nil when it is there already.
    private let target: (instance: ServiceInstance, network: LocalNetwork)?

    /// A connection to a service, made when one of its streams is opened.
    init(to instance: ServiceInstance? = nil, _ network: LocalNetwork? = nil) {
        target = if let instance, let network { (instance, network) } else { nil }
    }

    private func locked<Result>(_ body: (inout Value) -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body(&value)
    }

    /// Changes something that somebody may wait for, and tells both streams. No channel is called in `body`: it may call
    /// back at once.
    @discardableResult
    private func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, input, output) = locked { value in
            let result = body(&value)
            condition.broadcast()
            return (result, value.inputChanged, value.outputChanged)
        }
        input?()
        output?()
        return result
    }
}

// MARK: The channel
extension StreamConnection {
    /// Takes a channel's bytes; to be called on its event loop, before it reads.
    func adopt(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.setOption(.allowRemoteHalfClosure, value: true).flatMapThrowing { [self] in
            try channel.pipeline.syncOperations.addHandler(StreamConnectionHandler(connection: self))
            let isWanted = change { value in
                if value.isOver { return false }
                value.channel = channel
                value.phase = .open
                return true
            }
            if !isWanted { channel.close(promise: nil) }
        }
    }

    /// Whether the channel may read more; if not it is told when it may.
    func mayRead() -> Bool {
        locked { value in
            value.wantsRead = value.received.readableBytes >= Self.capacity
            return !value.wantsRead
        }
    }

    func received(_ buffer: inout ByteBuffer) {
        change { value in
            value.received.discardReadBytes()
            value.received.writeBuffer(&buffer)
        }
    }

    func ended() { change { $0.isAtEnd = true } }

    func failed(_ error: NSError) {
        change { value in
            if case .closed = value.phase { return }
            value.phase = .failed(error)
        }
    }

    private func connect() {
        guard let target else { return }
        let task = Task { [self] in
            do {
                _ = try await target.network.connect(to: target.instance) { self.adopt($0) }
            } catch {
                failed(.stream(error))
            }
        }
        locked { $0.task = task }
    }
}

// MARK: The streams
extension StreamConnection {
    /// A pair of streams; nil when there is one already.
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

    /// Closes a connection that nobody wanted.
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

    /// Ends one direction; the connection is over when the other is not open either.
    func close(_ direction: Direction) {
        let (channel, isOver) = locked { value -> ((any Channel)?, Bool) in
            guard value[direction] != .closed else { return (nil, false) }
            value[direction] = .closed
            return (value.channel, value[direction.other] != .open)
        }
        if isOver { close() } else if direction == .output { channel?.close(mode: .output, promise: nil) }
    }

    /// A stream is gone. One that was never opened leaves the connection to the other.
    func dropped(_ direction: Direction) {
        let mustClose = locked { value in
            guard value[direction] == .unopened, value[direction.other] != .closed else { return true }
            value[direction] = .closed
            return false
        }
        if mustClose { close(direction) }
    }

    /// Ends the connection; what was written is sent before, for 30 s at most.
    func close() {
        let (channel, task, isSent) = locked { value -> ((any Channel)?, Task<Void, Never>?, Bool) in
            guard !value.isOver else { return (nil, nil, false) }
            value.isOver = true
            if case .failed = value.phase {} else { value.phase = .closed }
            value.received.clear()
            condition.broadcast()
            return (value.channel, value.task, value.sending == 0)
        }
        task?.cancel()
        guard let channel else { return }
        if isSent { return channel.close(promise: nil) }
        channel.eventLoop.scheduleTask(in: .seconds(30)) { channel.close(promise: nil) }
    }

    /// Waits for bytes. 0 at the end, nil after an error or when it is closed.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        let (count, channel) = locked { value -> (Int?, (any Channel)?) in
            while value.received.readableBytes == 0 && !value.isAtEnd && value.isAlive { condition.wait() }
            let count = min(buffer.count, value.received.readableBytes)
            if count == 0 { return (value.isAtEnd || buffer.isEmpty ? 0 : nil, nil) }
            _ = value.received.readWithUnsafeReadableBytes { bytes in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: .init(rebasing: bytes[..<count]))
                return count
            }
            let mayRead = value.wantsRead && value.received.readableBytes < Self.capacity
            if mayRead { value.wantsRead = false }
            return (count, mayRead ? value.channel : nil)
        }
        channel?.read()
        return count
    }

    /// Waits for space, and sends as many bytes as there is. Nil after an error or when it is closed.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let (count, channel) = locked { value -> (Int?, (any Channel)?) in
            while value.sending >= Self.capacity && value.isAlive || value.isConnecting { condition.wait() }
            guard case .open = value.phase, value.output != .closed, let channel = value.channel else {
                return (nil, nil)
            }
            let count = min(bytes.count, Self.capacity - value.sending)
            value.sending += count
            return (count, channel)
        }
        guard let count, let channel, count > 0 else { return count }
        let buffer = ByteBuffer(bytes: bytes[..<count])
        channel.writeAndFlush(buffer).whenComplete { [self] result in
            let mustClose = change { value in
                value.sending -= count
                if case .failure(let error) = result, case .open = value.phase { value.phase = .failed(.stream(error)) }
                return value.isOver && value.sending == 0
            }
            if mustClose { channel.close(promise: nil) }
        }
        return count
    }
}

extension StreamConnection {
    enum Direction {
        case input, output

        var other: Direction { self == .input ? .output : .input }
    }
}

extension StreamConnection.Value {
    fileprivate subscript(direction: StreamConnection.Direction) -> StreamConnection.Use {
        get { direction == .input ? input : output }
        set { if direction == .input { input = newValue } else { output = newValue } }
    }

    fileprivate var isConnecting: Bool {
        if case .connecting = phase { true } else { false }
    }

    fileprivate var isAlive: Bool {
        switch phase {
        case .connecting, .open: true
        case .idle, .failed, .closed: false
        }
    }
}
