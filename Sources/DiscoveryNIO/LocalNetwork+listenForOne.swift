public import DNSSD
public import Discovery
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Listens and publishes as `listen` does, for one connection: the first that comes is given to who waits for it, closes the
    /// listener and withdraws the service; others that came meanwhile are closed without a byte.
    ///
    /// `initializer` runs for that one connection; when it fails, the next may come.
    /// - Throws: what binding fails with; collisions show in the listener's publication.
    public func listenForOne<Connection: Sendable>(
        _ name: ServiceName,
        type: ServiceType,
        in domain: Domain = .local,
        port: Port? = nil,
        txt: TXTRecord = TXTRecord(),
        on interfaces: InterfaceFilter = .all,
        over family: IPAddress.Family? = nil,
        onConflict policy: ConflictPolicy = .rename,
        group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> SingleListener<Connection> {
        let place = SinglePlace<Connection>()
        let listener = try await listen(
            name, type: type, in: domain, port: port, txt: txt, on: interfaces, over: family, onConflict: policy,
            group: group
        ) { channel in
            guard place.take() else { return channel.eventLoop.makeFailedFuture(PlaceTaken()) }
            let connection = initializer(channel)
            connection.whenComplete { result in
                switch result {
                case .success(let connection): place.fill(connection)
                case .failure: place.giveBack()
                }
            }
            return connection.map { _ in }
        }
        return SingleListener(listener: listener, place: place)
    }
}

/// Somebody else was first.
private struct PlaceTaken: Error {}

/// A listener for one connection.
public final class SingleListener<Connection: Sendable>: Sendable {
    /// The socket and the service.
    public let listener: PublishedListener
    /// The service: its state, and its name after a collision.
    public var publication: Publication { listener.publication }
    private let place: SinglePlace<Connection>

    fileprivate init(listener: PublishedListener, place: SinglePlace<Connection>) {
        self.listener = listener
        self.place = place
        let channel = listener.channel
        place.onFilled { channel.close(promise: nil) }
    }

    /// Waits for the connection. For one task, once.
    /// - Throws: `.closed` when the task is cancelled, or `close` was first.
    public func connection() async throws(DiscoveryError) -> Connection {
        if let connection = await place.connection() { return connection }
        throw DiscoveryError(.closed, "nobody waits for a connection to \(publication.service.name) any more")
    }

    /// Accepts no more, and says goodbye; returns when both are done.
    /// - Returns: the connection, when there is one that nobody has waited for: its owner is now who calls this.
    public func close() async -> Connection? {
        let connection = place.close()
        await listener.close()
        return connection
    }
}

/// Room for one connection, and for one who waits for it.
private final class SinglePlace<Connection: Sendable>: Sendable {
    private enum State {
        case free
        case taken
        case filled(Connection)
        case over
    }

    private struct Contents {
        var state = State.free
        var waiting: CheckedContinuation<Connection?, Never>?
        var onFilled: (@Sendable () -> Void)?
        var wasFilled = false
    }

    private let contents = Locked(Contents())

    /// - Returns: whether the caller may fill it.
    func take() -> Bool {
        contents.withLock { contents in
            guard case .free = contents.state else { return false }
            contents.state = .taken
            return true
        }
    }

    func giveBack() {
        contents.withLock { contents in
            if case .taken = contents.state { contents.state = .free }
        }
    }

    func fill(_ connection: Connection) {
        let (waiting, onFilled) = contents.withLock { contents in
            contents.wasFilled = true
            let waiting = contents.waiting
            contents.waiting = nil
            contents.state = waiting == nil ? .filled(connection) : .over
            return (waiting, contents.onFilled)
        }
        waiting?.resume(returning: connection)
        onFilled?()
    }

    /// Has `body` called when it is filled, at once if it already was.
    func onFilled(_ body: @escaping @Sendable () -> Void) {
        let wasFilled = contents.withLock { contents in
            contents.onFilled = body
            return contents.wasFilled
        }
        if wasFilled { body() }
    }

    func connection() async -> Connection? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = contents.withLock { contents -> Connection?? in
                    if Task.isCancelled { return .some(nil) }
                    switch contents.state {
                    case .filled(let connection):
                        contents.state = .over
                        return connection
                    case .over: return .some(nil)
                    case .free, .taken:
                        guard contents.waiting == nil else { return .some(nil) }
                        contents.waiting = continuation
                        return nil
                    }
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiting = contents.withLock { contents in
                defer { contents.waiting = nil }
                return contents.waiting
            }
            waiting?.resume(returning: nil)
        }
    }

    /// Lets nobody in any more; a connection that is on its way in still comes to nobody and is closed by the caller's end.
    func close() -> Connection? {
        let (waiting, connection) = contents.withLock { contents -> (CheckedContinuation<Connection?, Never>?, Connection?) in
            defer {
                contents.waiting = nil
                contents.state = .over
            }
            if case .filled(let connection) = contents.state { return (nil, connection) }
            return (contents.waiting, nil)
        }
        waiting?.resume(returning: nil)
        return connection
    }
}
