import AppSupport
import AppTLS
import CommandFrame
import DiscoveryTLS
import FileDropCore
import NIOCore

/// What sending and receiving share.
enum Transfer {
    /// How long a connection may stay idle before it is closed.
    static let patience = Duration.seconds(300)

    typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// How long two filedrops have for the greeting and the introduction, for which no person is asked.
    static let introduction = Duration.seconds(10)

    /// How long the other side's person may then think.
    static let question = Duration.seconds(75)

    /// Runs `body` with a connection with TLS, once the other side's key was judged.
    static func run<Result: Sendable>(
        _ connection: DropConnection,
        _ body: (PeerTLS.Peer, NIOAsyncChannelInboundStream<ByteBuffer>, Outbound, Silence) async throws -> Result
    ) async throws -> Result {
        try await run(connection.stream) { inbound, outbound, silence in
            let peer = try await connection.securedPeer()
            return try await body(peer, inbound, outbound, silence)
        }
    }

    /// Runs `body` with a connection; turns what broke it into a `CommandError`.
    static func run<Result: Sendable>(
        _ stream: ByteStream,
        _ body: (NIOAsyncChannelInboundStream<ByteBuffer>, Outbound, Silence) async throws -> Result
    ) async throws -> Result {
        let silence = Silence(patience) { stream.channel.close(promise: nil) }
        defer { silence.cancel() }
        do {
            return try await stream.executeThenClose { try await body($0, $1, silence) }
        } catch let failure as FileFailure {
            throw failure.error
        } catch let refused as Refused {
            throw refused.error
        } catch let refusal as PeerRefusal {
            throw CommandError(refusal)
        } catch let error where !(error is CommandError) && !(error is CancellationError) {
            throw CommandError(.ioError, "the connection broke: \(failureText(error))")
        }
    }

    /// Tells the other side why it is not served.
    static func refuse(_ connection: DropConnection, _ reason: Reason) async {
        try? await run(connection.stream) { inbound, outbound, _ in
            try await outbound.write(ByteBuffer(bytes: Message.greeting))
            try await send(.failure(.other, reason.rawValue), to: outbound)
            await finish(outbound, MessageReader(inbound), of: connection.stream.channel, within: .seconds(3))
        }
    }

    static func send(_ message: Message, to outbound: Outbound) async throws {
        try await outbound.write(ByteBuffer(bytes: message.bytes))
    }

    /// `3 files and folders, 5.0 MB`, for people.
    static func amount(_ entries: Int64, _ bytes: Int64) -> String {
        "\(entries == 1 ? "1 file" : "\(entries) files and folders"), \(ProgressLine.size(bytes))"
    }

    /// The error to report for the other side's failure.
    /// - Parameter isAdmitted: it is known, or a person has said yes to it; else its words are not printed.
    static func error(_ failure: Message.Failure, _ text: String, isAdmitted: Bool = true) -> CommandError {
        let status: ExitStatus =
            switch failure {
            case .noSpace, .other: .ioError
            case .badData: .badData
            case .notPermitted: .notPermitted
            }
        let isShown = isAdmitted || Reason(rawValue: text) != nil
        return CommandError(status, "the other side: \(isShown ? text : "it does not go on")")
    }

    /// Ends our direction and waits for the other side to end its own, so that nothing in flight is lost.
    static func finish(
        _ outbound: Outbound, _ reader: consuming MessageReader, of channel: any Channel, within limit: Duration
    ) async {
        outbound.finish()
        let patience = Silence(limit) { channel.close(promise: nil) }
        defer { patience.cancel() }
        try? await reader.drain()
    }
}
