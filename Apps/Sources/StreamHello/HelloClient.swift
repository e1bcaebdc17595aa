import AppSupport
import CommandFrame
import NIOCore

/// The client's side of a connection: says hello, prints what arrives, ends with the answer or the stream.
struct HelloClient {
    let events: StreamEvents

    init(_ app: App, _ stream: ByteStream) {
        events = StreamEvents(app: app, peer: stream.channel.remoteAddress?.readable ?? "?")
    }

    /// - Throws: `.notFound` if the stream ends without an answer, or none arrives in time.
    static func greet(_ app: App, _ stream: ByteStream, within limit: Duration) async throws {
        let client = HelloClient(app, stream)
        do {
            try await Deadline.run(limit) { try await client.exchange(stream) }
        } catch is Deadline.Missed {
            throw CommandError(.notFound, "\(client.events.peer) did not answer within \(limit)")
        }
    }

    private func exchange(_ stream: ByteStream) async throws {
        let isAnswered: Bool
        do {
            isAnswered = try await stream.executeThenClose { inbound, outbound in
                events.opened()
                events.hasSpace()
                try await outbound.write(ByteBuffer(bytes: Hello.toServer))
                events.sent(Hello.toServer)
                events.hasSpace()
                var count = 0
                for try await buffer in inbound {
                    let bytes = Array(buffer.readableBytesView)
                    events.received(bytes)
                    count += bytes.count
                    if bytes.contains(0) || count > Hello.limit { return true }
                }
                return count > 0
            }
        } catch {
            if !(error is CancellationError) { events.failed(error) }
            throw error is CancellationError ? error : CommandError(.ioError, "\(events.peer): \(failureText(error))")
        }
        events.ended()
        if !isAnswered && !Task.isCancelled { throw CommandError(.notFound, "\(events.peer) ended without an answer") }
    }
}
