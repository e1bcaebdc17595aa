#if TLS
import NIOCore
import NIOEmbedded
import Testing

@testable import DiscoveryTLS

struct LateCloseTests {
    /// A connection whose system takes nothing until it is told to.
    private final class Full: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        private var waiting: [EventLoopPromise<Void>] = []
        private(set) var isClosed = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            waiting.append(promise ?? context.eventLoop.makePromise())
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            if case .output = mode {
                promise?.succeed()
                return
            }
            isClosed = true
            context.close(mode: mode, promise: promise)
        }

        func drain() {
            defer { waiting = [] }
            for promise in waiting { promise.succeed() }
        }
    }

    private func connection() throws -> (EmbeddedChannel, Full) {
        let (channel, full) = (EmbeddedChannel(), Full())
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        try channel.pipeline.syncOperations.addHandlers([full, LateClose(atMost: .seconds(5))])
        return (channel, full)
    }

    @Test("what was said last is in the system's hands before the connection is closed")
    func waits() throws {
        let (channel, full) = try connection()
        channel.writeAndFlush(ByteBuffer(string: "close_notify"), promise: nil)
        let closed = channel.close()
        channel.embeddedEventLoop.run()
        #expect(!full.isClosed)
        full.drain()
        channel.embeddedEventLoop.run()
        #expect(full.isClosed)
        try closed.wait()
    }

    @Test("the same after its output was ended")
    func afterOutput() throws {
        let (channel, full) = try connection()
        channel.close(mode: .output, promise: nil)
        channel.close(mode: .all, promise: nil)
        #expect(!full.isClosed)
        full.drain()
        #expect(full.isClosed)
    }

    @Test("a peer that takes nothing is left after a time")
    func gives() throws {
        let (channel, full) = try connection()
        channel.close(mode: .all, promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        #expect(!full.isClosed)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(full.isClosed)
        full.drain()
    }
}
#endif
