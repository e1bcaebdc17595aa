public import DNSSD
public import Discovery
import DiscoverySystem
public import NIOCore
public import NIOPosix

extension LocalNetwork {
    /// Listens and publishes as `listen` does, for a single connection: the first one goes to the waiting caller, closes the listener and
    /// withdraws the service; others that arrive meanwhile are closed without a byte.
    ///
    /// Linux tells some clients nothing whose handshake ends in the moment in which the listener closes (seen with 6.18, also without this library):
    /// they learn it when they send, or by keepalive, which connections of this module have after 10 s.
    ///
    /// `initializer` runs only for that connection; the channel becomes active afterwards.
    /// - Throws: as `listen`; the listener's publication reports collisions.
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
        let place = SinglePlace()
        let listener = try await listen(
            name, type: type, in: domain, port: port, txt: txt, on: interfaces, over: family, onConflict: policy,
            group: group
        ) { channel in
            guard place.take() else { return channel.eventLoop.makeFailedFuture(PlaceTaken()) }
            // Do not read before someone handles the input.
            return channel.eventLoop.makeCompletedFuture {
                try channel.syncOptions?.setOption(.autoRead, value: false)
                // Otherwise the end of the other side's output would close the connection before it is used.
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                try channel.pipeline.syncOperations.addHandlers(
                    EarlyInput(), ArrivalHandler(orNever: { place.giveBack() }) { place.fill($0) })
            }
        }
        return SingleListener(listener: listener, place: place, initializer: initializer)
    }
}

/// Another connection was first.
private struct PlaceTaken: Error {}

/// A listener for one connection.
public final class SingleListener<Connection: Sendable>: Sendable {
    /// The socket and the service.
    public let listener: PublishedListener
    /// The service: its state, and its name after a collision.
    public var publication: Publication { listener.publication }
    private let place: SinglePlace
    private let initializer: @Sendable (any Channel) -> EventLoopFuture<Connection>

    fileprivate init(
        listener: PublishedListener, place: SinglePlace,
        initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) {
        (self.listener, self.place, self.initializer) = (listener, place, initializer)
        let channel = listener.channel
        place.onFilled { channel.close(promise: nil) }
    }

    deinit { place.close()?.close(promise: nil) }

    /// Waits for the connection. For use by one task, once.
    /// - Throws: `DiscoveryError.closed` if the task is cancelled or `close` came first; the errors of `initializer`.
    public func connection() async throws -> Connection {
        if let channel = await place.connection() { return try await NIODialer.activate(channel, initializer) }
        throw DiscoveryError(.closed, "nobody waits for a connection to \(publication.service.name) any more")
    }

    /// Stops accepting, and says goodbye; returns when both are done.
    /// - Returns: a connection that arrived but that no one waited for; it belongs to the caller.
    public func close() async -> Connection? {
        let channel = place.close()
        await listener.close()
        guard let channel else { return nil }
        return try? await NIODialer.activate(channel, initializer)
    }
}

/// Room for one connection.
private final class SinglePlace: Sendable {
    private enum State {
        case free
        /// A connection is arriving.
        case taken
        case filled(any Channel)
        case over
    }

    private struct Contents {
        var state = State.free
        var onFilled: (@Sendable () -> Void)?
        var wasFilled = false
    }

    private let contents = Awaited(Contents())

    /// - Returns: whether the caller may fill the place.
    func take() -> Bool {
        contents.change { contents in
            guard case .free = contents.state else { return false }
            contents.state = .taken
            return true
        }
    }

    func giveBack() {
        contents.change { contents in
            if case .taken = contents.state { contents.state = .free }
        }
    }

    func fill(_ connection: any Channel) {
        let (isWanted, onFilled) = contents.change { contents -> (Bool, (@Sendable () -> Void)?) in
            // Too late.
            guard case .taken = contents.state else { return (false, nil) }
            contents.state = .filled(connection)
            contents.wasFilled = true
            return (true, contents.onFilled)
        }
        guard isWanted else { return connection.close(promise: nil) }
        onFilled?()
    }

    /// Calls `body` when the place is filled; immediately if it already is.
    func onFilled(_ body: @escaping @Sendable () -> Void) {
        let wasFilled = contents.change { contents in
            contents.onFilled = body
            return contents.wasFilled
        }
        if wasFilled { body() }
    }

    func connection() async -> (any Channel)? {
        await contents.wait { contents -> (any Channel)?? in
            switch contents.state {
            case .filled(let connection):
                contents.state = .over
                return connection
            case .over: return .some(nil)
            case .free, .taken: return nil
            }
        } ?? nil
    }

    /// Admits no more connections.
    func close() -> (any Channel)? {
        contents.change { contents in
            defer { contents.state = .over }
            return if case .filled(let connection) = contents.state { connection } else { nil }
        }
    }
}
