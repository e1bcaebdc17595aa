import DNSSD
import Discovery
import DiscoveryNIO
import DiscoverySystem
import Foundation
import NIOCore

/// The TCP connection beneath a pair of streams: holds bytes received but not read, and bytes waiting to be sent.
///
/// Reading from the network pauses while 64 KiB wait to be read; writing reports no space while 64 KiB wait to be sent.
final class StreamConnection: Sendable {
    static let capacity = 64 * 1024

    enum Phase { case idle, connecting, open, failed(NSError), closed }

    /// How a stream uses its direction.
    enum Use { case unopened, open, closed }

    struct Value {
        var phase = Phase.idle
        var channel: (any Channel)?
        var received = ByteBuffer()
        var isAtEnd = false
        var sending = 0
        var wantsRead = false
        var input = Use.unopened
        var output = Use.unopened
        /// No one uses the connection any more; the channel is closed once everything is sent.
        var isOver = false
        var isTaken = false
        var inputChanged: (@Sendable () -> Void)?
        var outputChanged: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
    }

    private let value = Locked(Value())
    /// Wakes threads that wait for `value` to change.
    private let changes = NSCondition()
    /// Where to connect when a stream is opened; nil if the connection exists already.
    let target: (instance: ServiceInstance, network: LocalNetwork)?

    /// A connection to a service, made when one of its streams is opened.
    init(to instance: ServiceInstance? = nil, _ network: LocalNetwork? = nil) {
        target = if let instance, let network { (instance, network) } else { nil }
    }

    func locked<Result>(_ body: (inout Value) -> Result) -> Result { value.withLock(body) }

    /// Waits until `body` returns a result; calls it immediately, and after every change.
    func waiting<Result>(for body: (inout Value) -> Result?) -> Result {
        changes.lock()
        defer { changes.unlock() }
        while true {
            if let result = value.withLock(body) { return result }
            changes.wait()
        }
    }

    /// Wakes the waiting threads after a change. A thread between checking and waiting holds the lock.
    func wake() {
        changes.lock()
        changes.broadcast()
        changes.unlock()
    }

    /// Makes a change that threads may wait for, and notifies both streams. `body` must not call a channel, which may call back
    /// immediately.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, input, output) = locked { value in
            let result = body(&value)
            return (result, value.inputChanged, value.outputChanged)
        }
        wake()
        input?()
        output?()
        return result
    }
}

extension StreamConnection {
    enum Direction {
        case input, output

        var other: Direction { self == .input ? .output : .input }
    }
}

extension StreamConnection.Value {
    subscript(direction: StreamConnection.Direction) -> StreamConnection.Use {
        get { direction == .input ? input : output }
        set { if direction == .input { input = newValue } else { output = newValue } }
    }

    var isConnecting: Bool {
        if case .connecting = phase { true } else { false }
    }

    var isAlive: Bool {
        switch phase {
        case .connecting, .open: true
        case .idle, .failed, .closed: false
        }
    }
}

/// The network side.
extension StreamConnection {
    /// Takes over a channel. Call it on the channel's event loop, before it reads.
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

    /// Whether the channel may read more; if not, it is notified when it may.
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

    /// What comes after an error is no end: bytes may be missing.
    func ended() {
        change { value in
            if case .failed = value.phase { return }
            value.isAtEnd = true
        }
    }

    func failed(_ error: NSError) {
        change { value in
            if case .closed = value.phase { return }
            value.phase = .failed(error)
        }
    }

    func connect() {
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

/// Receives and sends bytes, on threads that may block.
extension StreamConnection {
    /// Waits for bytes. Returns 0 at the end, nil after an error or once closed.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        let (count, channel) = waiting { value -> (Int?, (any Channel)?)? in
            if value.received.readableBytes == 0 && !value.isAtEnd && value.isAlive { return nil }
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

    /// Waits for space and sends as many bytes as fit. On return the system has as many of them as it takes now, so they are sent even if
    /// the program ends. Nil after an error or once closed.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let (count, channel) = waiting { value -> (Int?, (any Channel)?)? in
            if value.sending >= Self.capacity && value.isAlive || value.isConnecting { return nil }
            guard case .open = value.phase, value.output != .closed, let channel = value.channel else {
                return (nil, nil)
            }
            let count = min(bytes.count, Self.capacity - value.sending)
            value.sending += count
            return (count, channel)
        }
        guard let count, let channel, count > 0 else { return count }
        let buffer = ByteBuffer(bytes: bytes[..<count])
        let loop = channel.eventLoop
        if loop.inEventLoop {
            send(buffer, on: channel)
        } else {
            try? loop.submit { self.send(buffer, on: channel) }.wait()
        }
        return count
    }

    private func send(_ buffer: ByteBuffer, on channel: any Channel) {
        let count = buffer.readableBytes
        channel.writeAndFlush(buffer).whenComplete { [self] result in
            let mustClose = change { value in
                value.sending -= count
                if case .failure(let error) = result, case .open = value.phase { value.phase = .failed(.stream(error)) }
                return value.isOver && value.sending == 0
            }
            if mustClose { channel.close(promise: nil) }
        }
    }
}

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
            value.inputChanged = input.side.events.changed
            value.outputChanged = output.side.events.changed
        }
        return (input, output)
    }

    /// Closes a connection that no one took.
    func closeUnlessTaken() {
        if !locked({ $0.isTaken }) { close() }
    }

    var phase: Phase { locked { $0.phase } }
    var error: NSError? { if case .failed(let error) = phase { error } else { nil } }
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
