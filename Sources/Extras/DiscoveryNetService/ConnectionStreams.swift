import Discovery
import DiscoverySystem
import Foundation

/// The bytes that a connection receives.
final class ConnectionInputStream: InputStream {
    private let connection: StreamConnection
    /// Lazy because it needs this object.
    private(set) lazy var events = StreamEvents { [bound = RunLoopBound(self)] in bound.object?.look() }
    private var isOpened = false
    private var isClosed = false
    private var told: Stream.Event = []

    init(_ connection: StreamConnection) {
        self.connection = connection
        super.init(data: Data())
    }

    deinit { connection.dropped(.input) }

    override func open() {
        guard !isOpened else { return }
        isOpened = true
        connection.open(.input)
    }

    override func close() {
        guard isOpened, !isClosed else { return }
        isClosed = true
        connection.close(.input)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed, len >= 0 else { return -1 }
        let count = connection.read(into: UnsafeMutableBufferPointer(start: buffer, count: len))
        told.remove(.hasBytesAvailable)
        events.changed()
        return count ?? -1
    }

    /// There is no buffer to lend.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { isOpened && !isClosed && connection.hasBytes }

    override var streamStatus: Status {
        if isClosed { return .closed }
        guard isOpened else { return .notOpen }
        if connection.isAtEnd { return .atEnd }
        return connection.status
    }

    override var streamError: (any Error)? { connection.error }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        events.delivery.schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        events.delivery.remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }

    /// Reports to the delegate what has become available since the last read.
    private func look() {
        guard isOpened else { return }
        switch connection.phase {
        case .idle, .connecting, .closed: return
        case .open:
            tell(.openCompleted)
            if connection.hasBytes { tell(.hasBytesAvailable) }
            if connection.isAtEnd { tell(.endEncountered) }
        case .failed:
            if connection.hasBytes { tell(.hasBytesAvailable) }
            tell(.errorOccurred)
        }
    }

    private func tell(_ event: Stream.Event) {
        guard !isClosed, !told.contains(event) else { return }
        told.insert(event)
        delegate?.stream(self, handle: event)
    }
}

extension StreamConnection {
    /// The state of an open stream.
    var status: Stream.Status {
        switch phase {
        case .idle, .connecting: .opening
        case .open: .open
        case .failed: .error
        case .closed: .closed
        }
    }

    var error: NSError? {
        if case .failed(let error) = phase { error } else { nil }
    }
}

/// The bytes that a connection sends.
final class ConnectionOutputStream: OutputStream {
    private let connection: StreamConnection?
    /// Lazy because it needs this object.
    private(set) lazy var events = StreamEvents { [bound = RunLoopBound(self)] in bound.object?.look() }
    private var isOpened = false
    private var isClosed = false
    private var told: Stream.Event = []

    init(_ connection: StreamConnection) {
        self.connection = connection
        super.init(toMemory: ())
    }

    /// Required by `OutputStream`; writes nowhere.
    required init(toMemory: ()) {
        connection = nil
        super.init(toMemory: ())
    }

    deinit { connection?.dropped(.output) }

    override func open() {
        guard !isOpened else { return }
        isOpened = true
        connection?.open(.output)
    }

    override func close() {
        guard isOpened, !isClosed else { return }
        isClosed = true
        connection?.close(.output)
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard isOpened, !isClosed, len >= 0 else { return -1 }
        let count = connection?.write(UnsafeBufferPointer(start: buffer, count: len))
        told.remove(.hasSpaceAvailable)
        events.changed()
        return count ?? -1
    }

    override var hasSpaceAvailable: Bool { isOpened && !isClosed && connection?.hasSpace == true }

    override var streamStatus: Status {
        if isClosed { return .closed }
        return isOpened ? connection?.status ?? .error : .notOpen
    }

    override var streamError: (any Error)? { connection?.error }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        events.delivery.schedule(in: aRunLoop, forMode: mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        events.delivery.remove(from: aRunLoop, forMode: mode)
    }

    override func property(forKey key: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_ property: AnyObject?, forKey key: PropertyKey) -> Bool { false }

    /// Reports to the delegate what has become available since the last write.
    private func look() {
        guard isOpened, let connection else { return }
        switch connection.phase {
        case .idle, .connecting, .closed: return
        case .open:
            tell(.openCompleted)
            if connection.hasSpace { tell(.hasSpaceAvailable) }
        case .failed: tell(.errorOccurred)
        }
    }

    private func tell(_ event: Stream.Event) {
        guard !isClosed, !told.contains(event) else { return }
        told.insert(event)
        delegate?.stream(self, handle: event)
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
        let isFirst = isOnItsWay.withLock { isOnItsWay in
            defer { isOnItsWay = true }
            return !isOnItsWay
        }
        guard isFirst else { return }
        delivery.post { [weak self] in
            guard let self else { return }
            isOnItsWay.withLock { $0 = false }
            look()
        }
    }
}
