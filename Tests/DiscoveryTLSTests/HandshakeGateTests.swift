#if TLS
import NIOCore
import NIOEmbedded
import NIOTLS
import PeerIdentity
import Testing

@testable import DiscoveryTLS

struct HandshakeGateTests {
    @Test("a handshake without a certificate that was judged, as of a resumed session, lets nothing pass")
    func resumed() throws {
        let channel = EmbeddedChannel()
        let verification = PeerVerification(try TLSPair.machine("server", trust: .first), .answering)
        let gate = HandshakeGate(verification, channel.eventLoop, within: .seconds(10))
        try channel.pipeline.syncOperations.addHandler(gate)
        channel.writeAndFlush(ByteBuffer(string: "secret"), promise: nil)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        #expect(throws: PeerRefusal.noTLS("it showed no certificate")) {
            try channel.writeInbound(ByteBuffer(string: "x"))
        }
        channel.embeddedEventLoop.run()
        #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(!channel.isActive)
        #expect(throws: PeerRefusal.self) { try gate.peer.wait() }
    }

    @Test("who says nothing is given up after the time")
    func silent() throws {
        let channel = EmbeddedChannel()
        let verification = PeerVerification(try TLSPair.machine("server"), .answering)
        let gate = HandshakeGate(verification, channel.eventLoop, within: .seconds(10))
        try channel.pipeline.syncOperations.addHandler(gate)
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        gate.advance(.seconds(60))
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(throws: PeerRefusal.timedOut) { try channel.throwIfErrorCaught() }
        #expect(throws: PeerRefusal.timedOut) { try gate.peer.wait() }
    }
}
#endif
