internal import CoreMetrics
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import HTTPTypes
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import NIOPosix
internal import System

/// Serves HTTP/1.1 on sockets that are listening already.
package final class ControlServer: Sendable {
    /// A socket that listens.
    package struct Listener: Sendable {
        package let descriptor: Int32
        /// TCP: the peer is unknown, so this serves only what everyone may see, and no foreign web page.
        package let isReadOnly: Bool
        /// `Host` headers that are answered over TCP, besides addresses and `localhost`.
        package let hosts: [String]

        package init(descriptor: Int32, isReadOnly: Bool, hosts: [String] = []) {
            self.descriptor = descriptor
            self.isReadOnly = isReadOnly
            self.hosts = hosts
        }
    }

    private enum Accepted: Sendable {
        case served(Client)
        case refused
    }

    /// A connection to serve. If it is dropped instead, as when it comes while the server ends, it is closed: a
    /// `NIOAsyncChannel` that is dropped unused ends the process.
    private final class Client: Sendable {
        private let http: HTTP1Channel
        private let value: HTTP1Channel.Value

        init(_ http: HTTP1Channel, _ value: HTTP1Channel.Value) {
            self.http = http
            self.value = value
        }

        deinit {
            // Unstructured, because no one waits for it. Closed already, it does nothing.
            Task { [value] in try? await value.executeThenClose { _, _ in } }
        }

        func serve(_ logger: Logger) async { await http.handle(value: value, logger: logger) }
    }

    private let respond: @Sendable (ControlRequest) async -> ControlAnswer
    private let logger: Logger
    private let connections: Connections
    private let refusals = Refusals()
    private let maximumBody: Int
    /// One thread: it only parses and copies. Work happens in tasks.
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let closing = Locked<[any Channel]>([])
    private let told = Locked(Notices(interval: .seconds(10)))

    package init(
        limits: ConnectionTable.Limits = ConnectionTable.Limits(),
        logger: Logger,
        respond: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) {
        self.respond = respond
        self.logger = logger
        maximumBody = limits.requestBytes
        connections = Connections(limits: limits, time: SystemTime())
    }

    /// Clients that are connected.
    package var clientCount: Int { connections.count }

    /// Serves until the task is cancelled or `stop` is called; takes the sockets over and closes them.
    package func run(_ listeners: [Listener], whenServing: @Sendable () async -> Void = {}) async throws {
        var servers: [NIOAsyncChannel<Accepted, Never>] = []
        for listener in listeners {
            // It is asked to listen again, and that is the queue which holds.
            let bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: RuntimeDirectory.backlog)
            let server = try await bootstrap.bind(listener.descriptor) { channel in
                self.accept(channel, of: listener)
            }
            servers.append(server)
        }
        let channels = servers.map(\.channel)
        closing.withLock { $0 = channels }
        await whenServing()
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.sweep() }
                await withDiscardingTaskGroup { serving in
                    for server in servers { serving.addTask { await self.serve(server) } }
                }
                group.cancelAll()
            }
        } onCancel: {
            self.stop()
        }
        try? await group.shutdownGracefully()
    }

    /// Closes the sockets and all connections.
    package func stop() {
        for channel in closing.withLock({ $0 }) { channel.close(promise: nil) }
        connections.closeAll()
    }

    /// Returns when the event loop has turned once, for a watchdog.
    package func turn() async { try? await group.next().submit {}.get() }

    private func sweep() async {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            for (peer, activity) in connections.sweep() {
                Self.count(dropped: "\(activity)")
                guard activity == .sending else { continue }
                tell("closed a connection whose client does not read", peer)
            }
        }
    }

    /// Logs what became of a connection, once in a while: repeated connections must not fill the log.
    private func tell(_ text: String, _ peer: Peer) {
        let now = SystemTime().now
        guard told.withLock({ $0.shouldTell(text, now: now) }) else { return }
        let who: Logger.Metadata =
            peer.address.map { ["address": "\($0)"] } ?? ["uid": "\(peer.uid ?? .max)", "pid": "\(peer.pid)"]
        logger.notice("\(text)", metadata: who)
    }

    private static func count(dropped reason: String) {
        Counter(label: "discoverd_connections_dropped_total", dimensions: [("reason", reason)]).increment()
    }

    private func serve(_ server: NIOAsyncChannel<Accepted, Never>) async {
        await withDiscardingTaskGroup { clients in
            do {
                try await server.executeThenClose { inbound in
                    for try await accepted in inbound {
                        guard case .served(let client) = accepted else { continue }
                        clients.addTask { await client.serve(self.logger) }
                    }
                }
            } catch is CancellationError {
                // It was asked to end.
            } catch {
                logger.error("the control socket failed: \(error)")
            }
            connections.closeAll()
        }
    }

    private func accept(_ channel: any Channel, of listener: Listener) -> EventLoopFuture<Accepted> {
        let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        let peer =
            listener.isReadOnly
            ? channel.eventLoop.makeSucceededFuture(Peer(uid: nil, address: address)) : channel.peer()
        return peer.flatMap { peer in
            let (connection, refusal, isReplacing) = self.connections.accepted(
                channel, peer, isReadOnly: listener.isReadOnly)
            if isReplacing { Self.count(dropped: "replaced") }
            guard let connection else {
                self.tell("refused a connection: \(refusal ?? "")", peer)
                Self.count(dropped: "refused")
                return self.refuse(channel, refusal ?? "")
            }
            channel.closeFuture.whenComplete { _ in self.connections.closed(connection.id) }
            let http = HTTP1Channel(
                responder: { request, writer, _ in
                    try await self.answer(request, writer, connection, listener.hosts)
                },
                configuration: HTTP1Channel.Configuration(
                    additionalChannelHandlers: [MalformedHeadHandler()],
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1024,
                        maxHeaderListSize: 64 * 1024,
                        maxHeaderFieldCount: 100
                    )
                )
            )
            do {
                try channel.pipeline.syncOperations.addHandler(ReceivedHandler(connection))
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
            return http.setup(channel: channel, logger: self.logger).flatMapThrowing { value in
                // First: what fails from here on closes it.
                let client = Client(http, value)
                let pipeline = channel.pipeline.syncOperations
                let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
                try pipeline.addHandler(AuthorityHandler(), position: .before(codec))
                return Accepted.served(client)
            }
        }
    }

    /// Answers why and closes, unless too many such answers are under way.
    private func refuse(_ channel: any Channel, _ reason: String) -> EventLoopFuture<Accepted> {
        guard let handler = refusals.handler(reason) else { return channel.eventLoop.makeFailedFuture(Refused()) }
        channel.closeFuture.whenComplete { _ in self.refusals.ended() }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.eventLoop.makeSucceededFuture(.refused)
    }

    private struct Refused: Error {}
    /// Ends a connection after an answer, without reading what is left of the request.
    private struct EndOfConnection: Error {}
}

// MARK: Requests
extension ControlServer {
    // `@concurrent`, like the Hummingbird functions it calls.
    @concurrent private func answer(
        _ request: Request,
        _ writer: consuming ResponseWriter,
        _ connection: Connection,
        _ hosts: [String]
    ) async throws {
        var mustClose = false
        var answer: ControlAnswer
        do throws(ControlError) {
            if connection.isReadOnly { try OriginPolicy.check(request, hosts: hosts) }
            let body = try await body(of: request)
            connection.became(.serving)
            let parsed = try ControlRequest(
                request.method.rawValue,
                target: request.head.path ?? "",
                body: body,
                peer: connection.peer,
                isReadOnly: connection.isReadOnly
            )
            answer = await connection.whileOpen { await self.respond(parsed) }
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
        if request.method == .head {
            try await writer.writeResponse(await answer.headAlone(isLast: mustClose))
        } else {
            let head = answer.head(isLast: mustClose)
            switch answer {
            case .whole(_, _, let bytes, _):
                try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
            case .lines(_, let source): try await send(head, source, writer, connection, .watching)
            case .pieces(_, _, let source): try await send(head, source, writer, connection, .serving)
            }
        }
        if mustClose { throw EndOfConnection() }
        connection.became(.idle)
    }

    @concurrent private func send(
        _ head: HTTPResponse,
        _ source: any LineSource,
        _ writer: consuming ResponseWriter,
        _ connection: Connection,
        _ waiting: ConnectionTable.Activity
    ) async throws {
        do {
            var body: any ResponseBodyWriter = try await writer.writeHead(head)
            connection.became(waiting)
            while let lines = await connection.whileOpen({ await source.next() }) {
                connection.became(.sending)
                try await body.write(ByteBuffer(bytes: lines))
                connection.became(waiting)
            }
            try await body.finish(nil)
        } catch {
            await source.end()
            throw error
        }
        await source.end()
    }

    private func body(of request: Request) async throws(ControlError) -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > maximumBody { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await buffer in request.body {
                bytes.append(contentsOf: buffer.readableBytesView)
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
