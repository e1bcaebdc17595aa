import AppSupport
import CommandFrame
import FileDropCore
import NIOCore

/// What sending and receiving share.
enum Transfer {
    /// How long a connection may stay idle before it is closed.
    static let patience = Duration.seconds(300)

    typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

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
        } catch let error where !(error is CommandError) && !(error is CancellationError) {
            throw CommandError(.ioError, "the connection broke: \(failureText(error))")
        }
    }

    static func send(_ message: Message, to outbound: Outbound) async throws {
        try await outbound.write(ByteBuffer(bytes: message.bytes))
    }

    /// The error to report for the other side's failure.
    static func error(_ failure: Message.Failure, _ text: String) -> CommandError {
        let status: ExitStatus =
            switch failure {
            case .noSpace, .other: .ioError
            case .badData: .badData
            case .notPermitted: .notPermitted
            }
        return CommandError(status, "the other side: \(text)")
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

extension SocketAddress {
    /// Address and port as both sides see them: without the scope, which differs between them.
    var signedBytes: [UInt8] {
        // sin_addr of sockaddr_in and sin6_addr of sockaddr_in6, <netinet/in.h>.
        var place = 8..<24
        if case .v4 = self { place = 4..<8 }
        var address = withSockAddr { address, size in
            Array(UnsafeRawBufferPointer(start: address, count: size).dropFirst(place.lowerBound).prefix(place.count))
        }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if address.count == 16, address.starts(with: mapped) { address.removeFirst(mapped.count) }
        return address + [UInt8(truncatingIfNeeded: (port ?? 0) >> 8), UInt8(truncatingIfNeeded: port ?? 0)]
    }
}
