#if TLS
import Crypto
import DNSSD
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PeerIdentity
import SwiftASN1
import Testing
import X509

@testable import DiscoveryTLS

/// Every kind of peer, in either direction: what is said of it, and that it gets no byte. In the lab each program shows once that it asks here.
@Suite("Who may speak TLS", .timeLimit(.minutes(5)))
struct TLSPolicyTests {
    enum Kind: CaseIterable, Sendable {
        case known, unknown
        /// Of another key than the one that its name has.
        case changed
        case expired
        /// TLS 1.2.
        case older
        case withoutCertificate
        /// No TLS at all.
        case plain
    }

    private static let secret = "what is not for everyone"

    @Test("who dials", arguments: Kind.allCases, [PeerTrust.known, .first])
    func callers(_ kind: Kind, _ trust: PeerTrust) async throws {
        let machine = try TLSPair.machine("machine", trust: trust)
        let stranger = try Stranger(kind, label: "caller")
        let expected = try stranger.refusal(by: machine, as: .label("caller"))
        let group = MultiThreadedEventLoopGroup.singleton
        let answered = group.next().makePromise(of: PeerTLS.Peer.self)
        let sink = Sink(group.next().makePromise(of: String.self))
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            machine.secure(answering: channel).map {
                PeerTLS.peer(of: channel).cascade(to: answered)
                try? channel.pipeline.syncOperations.addHandler(sink.handler())
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try stranger.speak(on: channel) } }
            .connect(to: try #require(server.localAddress)).get()
        let written = client.eventLoop.makePromise(of: Void.self)
        client.writeAndFlush(ByteBuffer(string: Self.secret), promise: written)
        let answer = await answered.futureResult.result()
        if expected == nil { try await written.futureResult.get() }
        client.close(promise: nil)
        let received = try await sink.text.futureResult.get()
        try await server.close().get()
        #expect(answer.refusal == expected)
        #expect(received == (expected == nil ? Self.secret : ""))
    }

    @Test("who is dialled", arguments: Kind.allCases.filter { $0 != .withoutCertificate }, [PeerTrust.known, .first])
    func answerers(_ kind: Kind, _ trust: PeerTrust) async throws {
        let name = PeerName.host(try HostName("tony.local"))
        let machine = try TLSPair.machine("machine", trust: trust)
        let stranger = try Stranger(kind, label: "tony")
        let expected = try stranger.refusal(by: machine, as: name)
        let group = MultiThreadedEventLoopGroup.singleton
        let called = group.next().makePromise(of: PeerTLS.Peer.self)
        let sink = Sink(group.next().makePromise(of: String.self))
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try stranger.answer(on: channel)
                try channel.pipeline.syncOperations.addHandler(sink.handler())
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                machine.secure(channel, calling: name).map { PeerTLS.peer(of: channel).cascade(to: called) }
            }.connect(to: try #require(server.localAddress)).get()
        let written = client.eventLoop.makePromise(of: Void.self)
        client.writeAndFlush(ByteBuffer(string: Self.secret), promise: written)
        let answer = await called.futureResult.result()
        if expected == nil { try await written.futureResult.get() }
        client.close(promise: nil)
        let received = try await sink.text.futureResult.get()
        try await server.close().get()
        #expect(answer.refusal == expected)
        #expect(received.contains(Self.secret) == (expected == nil))
    }
}

/// A peer as another program would be it, with nothing of this library's in its pipeline.
private struct Stranger: Sendable {
    let kind: TLSPolicyTests.Kind
    let identity: MachineIdentity

    init(_ kind: TLSPolicyTests.Kind, label: String) throws {
        self.kind = kind
        identity = kind == .expired ? try Self.expired(label) : try MachineIdentity(label: label)
    }

    /// Prepares what the machine knows, and says what it answers to this peer; nil: it lets it in.
    func refusal(by machine: PeerTLS, as name: PeerName) throws -> PeerRefusal? {
        let key = identity.fingerprint
        if kind == .changed {
            let real = try MachineIdentity(label: "real").fingerprint
            try machine.known.change { $0.add(.init(name, real)) }
            return .changed(name, known: [real], now: key)
        }
        if kind != .unknown { try machine.known.change { $0.add(.init(name, key)) } }
        return switch kind {
        case .known, .changed: nil
        case .unknown: machine.trust == .first ? nil : .unknown(name, key)
        case .expired: .expired(name, key)
        case .older: .noTLS("it speaks an older TLS")
        case .withoutCertificate: .noTLS("it has no certificate")
        case .plain: .noTLS("it speaks no TLS")
        }
    }

    func speak(on channel: any Channel) throws {
        guard kind != .plain else { return }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        if kind != .withoutCertificate {
            configuration.certificateChain = [.certificate(identity.certificate)]
            configuration.privateKey = .privateKey(identity.privateKey)
        }
        if kind == .older { configuration.maximumTLSVersion = .tlsv12 }
        let context = try NIOSSLContext(configuration: configuration)
        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
    }

    func answer(on channel: any Channel) throws {
        guard kind != .plain else { return try channel.pipeline.syncOperations.addHandler(Greeting()) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.privateKey))
        if kind == .older { configuration.maximumTLSVersion = .tlsv12 }
        let context = try NIOSSLContext(configuration: configuration)
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }

    private static func expired(_ label: String) throws -> MachineIdentity {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(label) }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: 0), notValidAfter: Date(timeIntervalSince1970: 1_600_000_000),
            issuer: name, subject: name,
            extensions: try Certificate.Extensions { try ExtendedKeyUsage([.serverAuth, .clientAuth]) },
            issuerPrivateKey: Certificate.PrivateKey(key))
        return try MachineIdentity(
            pem: key.pemRepresentation + "\n" + certificate.serializeAsPEM().pemString + "\n")
    }
}

/// A server that speaks first, and no TLS.
private final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "220 hello\r\n")), promise: nil)
        context.fireChannelActive()
    }
}

extension Result where Success == PeerTLS.Peer, Failure == any Error {
    fileprivate var refusal: PeerRefusal? {
        if case .failure(let error) = self { error as? PeerRefusal } else { nil }
    }
}
#endif
