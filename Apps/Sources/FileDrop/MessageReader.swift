import AppSupport
import CommandFrame
import FileDropCore
import NIOCore

/// Reads the messages of the framed mode from a connection, within the allowed lengths.
struct MessageReader {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()
    /// The other side is known, or a person has said yes to it.
    var isAdmitted = false

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) { self.inbound = inbound.makeAsyncIterator() }

    /// Reads the other side's greeting.
    mutating func greeting() async throws {
        let greeting = try await take(Message.greeting.count)
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

    /// The next message of a side that goes on.
    /// - Throws: as `next`, or what the other side says that keeps it from going on.
    mutating func expected() async throws -> Message {
        let message = try await next()
        if case .failure(let failure, let text) = message {
            throw Transfer.error(failure, text, isAdmitted: isAdmitted)
        }
        return message
    }

    /// Reads and discards the rest.
    mutating func drain() async throws { while try await inbound.next(isolation: #isolation) != nil {} }

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
