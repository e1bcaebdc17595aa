import Foundation

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
