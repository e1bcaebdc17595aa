import Discovery
import DiscoverySystem
import Foundation

/// The bytes that a connection receives.
final class ConnectionInputStream: InputStream {
    private let connection: StreamConnection
    let side: StreamSide

    init(_ connection: StreamConnection) {
        self.connection = connection
        side = StreamSide(connection, .input)
        super.init(data: Data())
        side.stream = self
    }

    override func open() { side.open() }

    override func close() { side.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard side.isInUse, len >= 0 else { return -1 }
        let count = connection.read(into: UnsafeMutableBufferPointer(start: buffer, count: len))
        side.used()
        return count ?? -1
    }

    /// There is no buffer to lend.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { side.isInUse && connection.hasBytes }

    override var streamStatus: Status { side.status }

    override var streamError: (any Error)? { connection.error }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.delivery.schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.delivery.remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}

/// The bytes that a connection sends.
final class ConnectionOutputStream: OutputStream {
    private let connection: StreamConnection
    let side: StreamSide

    init(_ connection: StreamConnection) {
        self.connection = connection
        side = StreamSide(connection, .output)
        super.init(toMemory: ())
        side.stream = self
    }

    /// Required by `OutputStream`; writes nowhere.
    required init(toMemory: ()) {
        connection = StreamConnection()
        side = StreamSide(connection, .output)
        super.init(toMemory: ())
    }

    override func open() { side.open() }

    override func close() { side.close() }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard side.isInUse, len >= 0 else { return -1 }
        let count = connection.write(UnsafeBufferPointer(start: buffer, count: len))
        side.used()
        return count ?? -1
    }

    override var hasSpaceAvailable: Bool { side.isInUse && connection.hasSpace }

    override var streamStatus: Status { side.status }

    override var streamError: (any Error)? { connection.error }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.delivery.schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        side.events.delivery.remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }
}

/// One direction of a connection, as its stream shows it.
final class StreamSide {
    /// Where events are reported.
    weak var stream: Stream?
    /// Lazy because it needs this object.
    private(set) lazy var events = StreamEvents { [bound = RunLoopBound(self)] in bound.object?.look() }
    private let connection: StreamConnection
    private let direction: StreamConnection.Direction
    private var isOpened = false
    private var isClosed = false
    private var told: Stream.Event = []

    init(_ connection: StreamConnection, _ direction: StreamConnection.Direction) {
        (self.connection, self.direction) = (connection, direction)
    }

    deinit { connection.dropped(direction) }

    /// Bytes may be read or written.
    var isInUse: Bool { isOpened && !isClosed }

    func open() {
        guard !isOpened else { return }
        isOpened = true
        connection.open(direction)
    }

    func close() {
        guard isInUse else { return }
        isClosed = true
        connection.close(direction)
    }

    var status: Stream.Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        if direction == .input, connection.isAtEnd { return .atEnd }
        return switch connection.phase {
        case .idle, .connecting: .opening
        case .open: .open
        case .failed: .error
        case .closed: .closed
        }
    }

    /// Bytes were read or written: that there are more, or that there is room for more, is news.
    func used() {
        told.remove(ready)
        events.changed()
    }

    private var ready: Stream.Event { direction == .input ? .hasBytesAvailable : .hasSpaceAvailable }
    private var isReady: Bool { direction == .input ? connection.hasBytes : connection.hasSpace }

    /// Reports to the delegate what is news.
    private func look() {
        guard isOpened else { return }
        switch connection.phase {
        case .idle, .connecting, .closed: return
        case .open:
            tell(.openCompleted)
            if isReady { tell(ready) }
            if direction == .input, connection.isAtEnd { tell(.endEncountered) }
        case .failed:
            if isReady { tell(ready) }
            tell(.errorOccurred)
        }
    }

    private func tell(_ event: Stream.Event) {
        guard let stream, !isClosed, !told.contains(event) else { return }
        told.insert(event)
        stream.delegate?.stream(stream, handle: event)
    }
}

/// Brings a connection's changes to a stream's run loop: a single look, however many changes there were.
final class StreamEvents: Sendable {
    let delivery = RunLoopDelivery()
    private let isOnItsWay = Locked(false)
    private let look: @Sendable () -> Void

    /// - Parameter look: called in the run loop.
    init(_ look: @escaping @Sendable () -> Void) { self.look = look }

    /// Call when something is new: the stream will look.
    var changed: @Sendable () -> Void {
        { [weak self] in self?.tell() }
    }

    private func tell() {
        guard !isOnItsWay.exchange(true) else { return }
        delivery.post { [weak self] in
            guard let self else { return }
            isOnItsWay.withLock { $0 = false }
            look()
        }
    }
}
