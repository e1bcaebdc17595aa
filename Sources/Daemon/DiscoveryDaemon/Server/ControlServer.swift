internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoverySystem
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Serves HTTP/1.1 on sockets that are listening already.
package final class ControlServer: Sendable {
    /// A socket that listens.
    package struct Listener: Sendable {
        package let descriptor: Int32
        /// TCP: the peer is unknown, so this serves only what everyone may see, and no foreign web page.
        package let isReadOnly: Bool
        /// `Host` headers that are answered over TCP, besides addresses and `localhost`.
        package let hosts: [String]
        /// Adds what a client has to prove first, and says that it has; nil: nothing. Called on the channel's event loop.
        package let admit: (@Sendable (any Channel) -> EventLoopFuture<Void>)?

        package init(
            descriptor: Int32, isReadOnly: Bool, hosts: [String] = [],
            admit: (@Sendable (any Channel) -> EventLoopFuture<Void>)? = nil
        ) {
            self.descriptor = descriptor
            self.isReadOnly = isReadOnly
            self.hosts = hosts
            self.admit = admit
        }
    }

    let respond: @Sendable (ControlRequest) async -> ControlAnswer
    private let log: DaemonLog
    private let metrics: MetricsRegistry
    private let connections: Connections
    private let refusals = Refusals()
    let maximumBody: Int
    private let maximumRequests: Int
    /// One thread: it only parses and copies. Work happens in tasks.
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let closing = Locked<[any Channel]>([])
    private let told = Locked(Notices(interval: .seconds(10)))

    /// - Parameter connections: the clients, which others may count.
    init(
        _ connections: Connections,
        limits: ConnectionTable.Limits,
        metrics: MetricsRegistry,
        log: DaemonLog,
        respond: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) {
        self.respond = respond
        self.metrics = metrics
        self.log = log
        maximumBody = limits.requestBytes
        maximumRequests = limits.requests
        self.connections = connections
    }

    /// Creates a server with its own clients.
    package convenience init(
        limits: ConnectionTable.Limits = ConnectionTable.Limits(), metrics: MetricsRegistry, log: DaemonLog,
        respond: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) {
        let connections = Connections(limits: limits)
        self.init(connections, limits: limits, metrics: metrics, log: log, respond: respond)
    }

    /// Clients that are connected.
    package var clientCount: Int { connections.count }

    /// Serves until the task is cancelled or `stop` is called; takes the sockets over and closes them.
    package func run(_ listeners: [Listener], whenServing: @Sendable () async -> Void = {}) async throws {
        var servers: [NIOAsyncChannel<HTTPConnection?, Never>] = []
        do {
            for listener in listeners { servers.append(try await bind(listener)) }
        } catch {
            // One that is dropped unused ends the process.
            for server in servers { try? await server.executeThenClose { _ in } }
            try? await group.shutdownGracefully()
            throw error
        }
        let channels = servers.map(\.channel)
        closing.withLock { $0 = channels }
        await whenServing()
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.sweep() }
                await withDiscardingTaskGroup { serving in
                    for (server, listener) in zip(servers, listeners) {
                        serving.addTask { await self.serve(server, of: listener) }
                    }
                }
                group.cancelAll()
            }
        } onCancel: {
            self.stop()
        }
        try? await group.shutdownGracefully()
    }

    private func bind(_ listener: Listener) async throws -> NIOAsyncChannel<HTTPConnection?, Never> {
        // It is asked to listen again, and that is the queue which holds.
        let bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: RuntimeDirectory.backlog)
        return try await bootstrap.bind(listener.descriptor) { channel in self.accept(channel, of: listener) }
    }

    /// Closes the sockets and all connections.
    package func stop() {
        for channel in closing.withLock({ $0 }) { channel.close(promise: nil) }
        connections.closeAll()
    }

    /// Returns when the event loop has turned once, for a watchdog.
    package func turn() async { try? await group.next().submit {}.get() }

    private func sweep() async {
        for await _ in connections.arrivals {
            while connections.count > 0, (try? await Task.sleep(for: .milliseconds(500))) != nil {
                for (peer, activity) in connections.sweep() {
                    metrics.dropped("\(activity)")
                    guard activity == .sending else { continue }
                    tell("closed a connection whose client does not read", peer)
                }
            }
        }
    }

    /// Logs the fate of a connection, rate-limited: repeated connections must not fill the log.
    private func tell(_ text: String, _ peer: SocketPeer) {
        let now = SystemTime().now
        guard told.withLock({ $0.shouldTell(text, now: now) }) else { return }
        let process = [("pid", "\(peer.pid)"), ("uid", "\(peer.uid ?? .max)")]
        let who = peer.address.map { [("address", "\($0)")] } ?? process
        log.notice(text, who)
    }

    private func serve(_ server: NIOAsyncChannel<HTTPConnection?, Never>, of listener: Listener) async {
        await withDiscardingTaskGroup { clients in
            do {
                try await server.executeThenClose { inbound in
                    for try await client in inbound {
                        guard let client else { continue }
                        clients.addTask { await self.serve(client, of: listener) }
                    }
                }
            } catch is CancellationError {
                // It was asked to end.
            } catch {
                log.error("the control socket failed: \(error)")
            }
            connections.closeAll()
        }
    }

    private func serve(_ client: HTTPConnection, of listener: Listener) async {
        await client.serve { head, rest, writer in
            try await self.answer(head, &rest, writer, client.connection, listener.hosts)
        }
    }

    /// - Returns: nil for a channel that is refused, or has to prove something first.
    private func accept(_ channel: any Channel, of listener: Listener) -> EventLoopFuture<HTTPConnection?> {
        guard let admit = listener.admit else { return admitted(channel, of: listener) }
        // It counts as a client once it has proven what it must; then the future of a channel that is open already.
        admit(channel).flatMap { self.admitted(channel, of: listener) }.whenComplete { accepted in
            switch accepted {
            case .success(let client?): Task { await self.serve(client, of: listener) }
            case .success: break
            case .failure: channel.close(promise: nil)
            }
        }
        return channel.eventLoop.makeSucceededFuture(nil)
    }

    private func admitted(_ channel: any Channel, of listener: Listener) -> EventLoopFuture<HTTPConnection?> {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        let peer: SocketPeer
        do {
            peer = listener.isReadOnly ? SocketPeer(uid: nil, address: address) : try channel.peer()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        let (connection, refusal, isReplacing) = connections.accepted(channel, peer, isReadOnly: listener.isReadOnly)
        if isReplacing { metrics.dropped("replaced") }
        guard let connection else {
            tell("refused a connection: \(refusal ?? "")", peer)
            metrics.dropped("refused")
            return refuse(channel, refusal ?? "")
        }
        channel.closeFuture.whenComplete { _ in self.connections.closed(connection.id) }
        return channel.eventLoop.makeCompletedFuture {
            try HTTPConnection(channel, connection, most: self.maximumRequests)
        }
    }

    /// Answers why and closes, unless too many such answers are under way.
    private func refuse(_ channel: any Channel, _ reason: String) -> EventLoopFuture<HTTPConnection?> {
        guard let handler = refusals.handler(reason) else { return channel.eventLoop.makeFailedFuture(Refused()) }
        channel.closeFuture.whenComplete { _ in self.refusals.ended() }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.eventLoop.makeSucceededFuture(nil)
    }

    private struct Refused: Error {}
}

// `@concurrent`, like the functions of SwiftNIO that these call.
extension ControlServer {
    /// Ends a connection after an answer, without reading the rest of the request.
    private struct EndOfConnection: Error {}

    /// Answers a request of a client.
    @concurrent func answer(
        _ head: HTTPRequestHead,
        _ rest: inout HTTPConnection.Requests,
        _ writer: HTTPConnection.Writer,
        _ connection: Connection,
        _ hosts: [String]
    ) async throws {
        var mustClose = false
        var answer: ControlAnswer
        do throws(ControlError) {
            if connection.isReadOnly { try OriginPolicy.check(head, hosts: hosts) }
            let body = try await body(of: head, &rest)
            connection.became(.serving)
            let parsed = try ControlRequest(
                head.method.rawValue,
                target: Authority.originForm(of: head.uri),
                body: body,
                peer: connection.peer,
                isReadOnly: connection.isReadOnly,
                authorization: head.headers["Authorization"].first
            )
            answer = await respond(parsed)
        } catch {
            // The unread rest of the request would be taken for the next one.
            mustClose = true
            answer = .error(error)
        }
        switch answer {
        case .lines(_, let source):
            guard let refusal = connection.watches() else { break }
            await source.end()
            answer = .error(ControlError(503, "busy", refusal))
        case .whole, .pieces: break
        }
        connection.became(.sending)
        let isLast = mustClose || !head.isKeepAlive
        if head.method == .HEAD {
            let head = await answer.headAlone(isLast: isLast)
            try await writer.write(contentsOf: [.head(head), .end(nil)])
        } else {
            let head = answer.head(isLast: isLast)
            switch answer {
            case .whole(_, _, let body, _): try await writer.write(head, body)
            case .lines(_, let source): try await send(head, source, writer, connection, .watching)
            case .pieces(_, _, let source): try await send(head, source, writer, connection, .serving)
            }
        }
        if mustClose { throw EndOfConnection() }
    }

    @concurrent private func send(
        _ head: HTTPResponseHead,
        _ source: any LineSource,
        _ writer: HTTPConnection.Writer,
        _ connection: Connection,
        _ waiting: ConnectionTable.Activity
    ) async throws {
        do {
            try await writer.write(head, source, of: connection, waiting: waiting)
        } catch {
            await source.end()
            throw error
        }
        await source.end()
    }

    @concurrent private func body(
        of head: HTTPRequestHead, _ rest: inout HTTPConnection.Requests
    ) async throws(ControlError) -> [UInt8] {
        if let length = head.headers["Content-Length"].first.flatMap({ Int($0) }), length > maximumBody {
            throw tooLarge
        }
        var bytes: [UInt8] = []
        do {
            while case .body(let part)? = try await rest.next() {
                bytes.append(contentsOf: part.readableBytesView)
                if bytes.count > maximumBody { break }
            }
        } catch {
            throw ControlError(400, "bad-request", "the request broke off")
        }
        guard bytes.count <= maximumBody else { throw tooLarge }
        return bytes
    }

    private var tooLarge: ControlError {
        ControlError(413, "too-large", "the body of a request has \(maximumBody) bytes at most")
    }
}
