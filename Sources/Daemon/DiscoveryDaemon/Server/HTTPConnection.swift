internal import NIOCore
internal import NIOHTTP1

/// A connection as requests of HTTP/1.1 that are answered one after another (RFC 9112 §9.3).
///
/// If it is dropped instead of served, as when it comes while the server ends, it closes: a `NIOAsyncChannel` that is dropped
/// unused ends the process.
final class HTTPConnection: Sendable {
    typealias Requests = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    let connection: Connection
    private let channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    /// How many requests are answered; the last answer says that it is the last (RFC 9112 §9.6).
    private let most: Int

    /// Adds what reads and writes HTTP to a channel, on its event loop.
    init(_ channel: any Channel, _ connection: Connection, most: Int) throws {
        self.connection = connection
        self.most = most
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ReceivedHandler(connection))
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 * 1024
        limits.maxHeaderListSize = 64 * 1024
        limits.maxHeaderFieldCount = 100
        // Reads a request only after the previous one is answered. `MalformedHeadHandler` answers malformed ones.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(MalformedHeadHandler())
        try pipeline.addHandler(AnsweredHandler(connection))
        // Last: from here on the channel has an owner.
        self.channel = try NIOAsyncChannel(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    deinit {
        // Unstructured, because no one waits for it. Closed already, it does nothing.
        Task { [channel] in try? await channel.executeThenClose { _, _ in } }
    }

    /// Serves until the client goes or `answer` throws; then it is closed.
    /// - Parameter answer: reads the rest of the request and writes the answer; its task ends when the client goes.
    @concurrent func serve(
        _ answer: @escaping @concurrent @Sendable (HTTPRequestHead, inout Requests, Writer) async throws -> Void
    ) async {
        // One task and one callback for all requests: a callback stays until the channel closes.
        let serving = Task { await requests(answer) }
        channel.channel.closeFuture.whenComplete { _ in serving.cancel() }
        await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            serving.cancel()
        }
    }

    @concurrent private func requests(
        _ answer: @concurrent @Sendable (HTTPRequestHead, inout Requests, Writer) async throws -> Void
    ) async {
        do {
            try await channel.executeThenClose { inbound, writer in
                var requests = inbound.makeAsyncIterator()
                var left = most
                do {
                    while case .head(var head)? = try await requests.next() {
                        left -= 1
                        if left <= 0 { head.headers.replaceOrAdd(name: "Connection", value: "close") }
                        try await answer(head, &requests, writer)
                        guard head.isKeepAlive else { break }
                    }
                } catch {
                    // It came behind a request that was not answered yet.
                    guard let refusal = MalformedHeadHandler.refusal(error),
                        case .whole(_, _, let body, _) = ControlAnswer.error(refusal)
                    else { throw error }
                    try await writer.write(ControlAnswer.error(refusal).head(isLast: true), body)
                }
                writer.finish()
                // The client closes when it has read all, or its time is over.
                try await channel.channel.closeFuture.get()
            }
        } catch {
            // It is gone, or was refused.
        }
    }
}

extension HTTPConnection.Writer {
    /// Writes all of an answer.
    @concurrent func write(_ head: HTTPResponseHead, _ body: [UInt8]) async throws {
        try await write(contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(bytes: body))), .end(nil)])
    }

    /// Writes the head of an answer and its lines as they come; the caller ends their source.
    @concurrent func write(
        _ head: HTTPResponseHead, _ source: any LineSource, of connection: Connection,
        waiting: ConnectionTable.Activity
    ) async throws {
        try await write(.head(head))
        connection.became(waiting)
        while let lines = await source.next() {
            connection.became(.sending)
            try await write(.body(.byteBuffer(ByteBuffer(bytes: lines))))
            connection.became(waiting)
        }
        connection.became(.sending)
        try await write(.end(nil))
    }
}

/// Reports that an answer was written, on the event loop: a client that has read it may connect again at once, and needs a place. The task
/// that wrote it goes on later.
private final class AnsweredHandler: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenSuccess { [connection] in connection.answered() }
        context.write(data, promise: written)
    }
}
