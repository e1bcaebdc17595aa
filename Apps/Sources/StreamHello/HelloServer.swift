import AppSupport
import DiscoveryNIO
import NIOCore

/// The server's side: prints what arrives and answers each message.
struct HelloServer {
    let app: App
    /// The maximum number of connections; more are closed at once.
    static let limit = 256
    /// How long a client may stay silent before its connection is closed.
    static let patience = Duration.seconds(60)

    /// Serves until the task is cancelled.
    func serve(_ connections: IncomingConnections<ByteStream>) async {
        await withDiscardingTaskGroup { group in
            let gate = Gate(limit: Self.limit)
            for await stream in connections {
                group.addTask {
                    guard gate.enter() else { return await stream.refuse() }
                    await answer(stream)
                    gate.leave()
                }
            }
        }
    }

    private func answer(_ stream: ByteStream) async {
        let events = StreamEvents(app: app, peer: stream.channel.remoteAddress?.readable ?? "?")
        do {
            try await stream.executeThenClose { inbound, outbound in
                events.opened()
                events.hasSpace()
                var messages = LineFraming(limit: Hello.limit, ends: Hello.ends)
                let silence = Silence(Self.patience) { stream.channel.close(promise: nil) }
                defer { silence.cancel() }
                for try await buffer in inbound {
                    silence.restart()
                    let bytes = Array(buffer.readableBytesView)
                    events.received(bytes)
                    for _ in messages.received(bytes) { try await answer(outbound, events) }
                }
                if messages.ended() != nil { try await answer(outbound, events) }
                outbound.finish()
            }
            events.ended()
        } catch {
            if error is CancellationError { events.ended() } else { events.failed(error) }
        }
    }

    private func answer(_ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ events: StreamEvents) async throws {
        try await outbound.write(ByteBuffer(bytes: Hello.toClient))
        events.sent(Hello.toClient)
        events.hasSpace()
    }
}
