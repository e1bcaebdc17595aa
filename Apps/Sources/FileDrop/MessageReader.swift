import AppSupport
import CommandFrame
import FileDropCore
import NIOCore

/// Reads the messages of the framed mode from a connection, within the allowed lengths.
struct MessageReader {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) { self.inbound = inbound.makeAsyncIterator() }

    /// Reads the other side's greeting.
    mutating func greeting() async throws {
        let greeting = try await take(Message.greeting.count)
        if greeting == Message.oldGreeting { throw Self.tooOld }
        guard greeting == Message.greeting else {
            throw CommandError(.badData, "the other side does not speak this version of filedrop")
        }
    }

    /// The next message.
    /// - Throws: if the connection has ended, or its bytes are not a message.
    mutating func next() async throws -> Message {
        let header = try await take(Message.headerLength)
        guard let length = Message.bodyLength(header) else { throw Self.nonsense }
        guard let message = Message(header: header, body: try await take(length)) else { throw Self.nonsense }
        return message
    }

    /// Reads and discards the rest.
    mutating func drain() async throws { while try await inbound.next(isolation: #isolation) != nil {} }

    static let tooOld = CommandError(
        .badData, "the other side is an older filedrop (filedrop/1, this is filedrop/2)",
        advice: ["Install the same version on both sides; one file goes with --plain meanwhile."])
    static let ended = CommandError(.ioError, "the connection ended before everything was through")
    static let nonsense = CommandError(.badData, "the other side broke the rules of the transfer")

    private mutating func take(_ count: Int) async throws -> [UInt8] {
        while buffer.readableBytes < count {
            guard var more = try await inbound.next(isolation: #isolation) else {
                throw Self.ended
            }
            if buffer.readableBytes == 0 { buffer = more } else { buffer.writeBuffer(&more) }
        }
        defer { if buffer.readerIndex > 1 << 20 { buffer.discardReadBytes() } }
        return buffer.readBytes(length: count) ?? []
    }
}
