#if TLS
internal import DNSSD
public import NIOCore
internal import NIOSSL
public import PeerIdentity

/// Mutual TLS 1.3 (RFC 8446) between machines that know each other's keys. One line in the pipeline of a connection:
///
///     network.connect(to: tony) { channel in tls.secure(channel, calling: .service(tony)) }
///     network.listen(name, type: type) { channel in tls.secure(answering: channel) }
///
/// Nothing is sent to a peer, and nothing that it sends is passed on, before its key was judged.
public struct PeerTLS: Sendable {
    /// What a person is asked.
    public struct Question: Hashable, Sendable {
        /// Who it is, as far as can be said: the name that was dialled, or a caller's claim.
        public var name: PeerName
        /// Its key.
        public var key: KeyFingerprint
        /// Other names that the key is known under.
        public var otherNames: [PeerName]

        /// Creates a question.
        public init(name: PeerName, key: KeyFingerprint, otherNames: [PeerName]) {
            (self.name, self.key, self.otherNames) = (name, key, otherNames)
        }
    }

    /// A peer whose key was accepted.
    public struct Peer: Hashable, Sendable {
        /// The name that was dialled, or a caller's claim.
        public var name: PeerName
        /// Its key.
        public var key: KeyFingerprint
        /// It was not known before.
        public var isNew: Bool
        /// It is not known now either: `PeerTrust.strangers` let it in, and the program judges it.
        public var isStranger: Bool

        /// Creates a peer, for tests.
        public init(name: PeerName, key: KeyFingerprint, isNew: Bool, isStranger: Bool = false) {
            (self.name, self.key, self.isNew, self.isStranger) = (name, key, isNew, isStranger)
        }
    }

    /// This machine.
    public let identity: MachineIdentity
    /// Who is let in. Certificate authorities cannot be given later than to `init`: then no one is let in.
    public var trust: PeerTrust
    /// The keys that are known, and become known; hashed names are understood.
    public var known: KnownPeersFile
    /// Asks a person about a key that is not known; nil: nobody can be asked. Its task is cancelled when the connection is lost, or has taken `patience`.
    public var ask: (@Sendable (Question) async -> Bool)?
    /// Told why a service that had no key is let in.
    public var vouched: (@Sendable (PeerName, Voucher) -> Void)?
    /// How long a peer may take until a person may be asked, on either side: until its certificate has come, or, of a caller, the whole of its first
    /// message (RFC 8446 §4.1.2), for its certificate follows its person's answer.
    public var silence: Duration = .seconds(10)
    /// The longest that a handshake takes.
    public var patience: Duration = .seconds(60)

    /// Callers that have proven nothing yet.
    private let room = HandshakeRoom()
    /// What `trust` had of certificate authorities when this was created.
    let authorities: CertificateAuthorities?
    private let client: NIOSSLContext
    private let server: NIOSSLContext

    /// - Throws: where the identity cannot be used for TLS, or `PeerAuthority.Failure` for certificate authorities that make no sense.
    public init(
        identity: MachineIdentity, known: KnownPeersFile, trust: PeerTrust = .known,
        ask: (@Sendable (Question) async -> Bool)? = nil
    ) throws {
        (self.identity, self.known, self.trust, self.ask) = (identity, known, trust, ask)
        authorities = if case .authority(let authority) = trust { try CertificateAuthorities(authority) } else { nil }
        let chain = identity.chain.map { NIOSSLCertificateSource.certificate($0) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(identity.privateKey))
        configuration.minimumTLSVersion = .tlsv13
        // Asks for a certificate; `PeerVerification` judges it.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        server = try NIOSSLContext(configuration: configuration)
        var calling = TLSConfiguration.makeClientConfiguration()
        calling.certificateChain = chain
        calling.privateKey = .privateKey(identity.privateKey)
        calling.minimumTLSVersion = .tlsv13
        calling.certificateVerification = .noHostnameVerification
        calling.trustRoots = .certificates([])
        client = try NIOSSLContext(configuration: calling)
    }

    /// Adds TLS to a connection to someone who is dialled by name; the first handler of its pipeline. Call it on the channel's event loop.
    ///
    /// The peer judges this machine's key after this machine judged the peer's. Closed before, the connection delivers nothing of what was
    /// written; half-closed (`CloseMode.output`), it does.
    public func secure(_ channel: any Channel, calling name: PeerName) -> EventLoopFuture<Void> {
        secure(channel, PeerVerification(self, .calling(name))) { callback in
            try NIOSSLClientHandler(context: client, serverHostname: nil, customVerificationCallback: callback)
        }
    }

    /// Adds TLS to a connection that was dialled to someone whose name is not known yet, as to be paired: it is judged as a caller is, by what it says
    /// of itself. The first handler of the connection's pipeline. Call it on the channel's event loop.
    public func secure(meeting channel: any Channel) -> EventLoopFuture<Void> {
        secure(channel, PeerVerification(self, .answering)) { callback in
            try NIOSSLClientHandler(context: client, serverHostname: nil, customVerificationCallback: callback)
        }
    }

    /// Adds TLS to a connection that was accepted; the first handler of its pipeline. Call it on the channel's event loop.
    /// - Parameters:
    ///   - channel: the connection.
    ///   - message: sent in plain bytes, before the connection ends, to a caller that does not begin with TLS.
    public func secure(answering channel: any Channel, tellingPlain message: [UInt8] = []) -> EventLoopFuture<Void> {
        do {
            if !message.isEmpty { try channel.pipeline.syncOperations.addHandler(PlainAnswer(message)) }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return secure(channel, PeerVerification(self, .answering), in: room) { callback in
            NIOSSLServerHandler(context: server, customVerificationCallback: callback)
        }
    }

    /// The peer of a connection with TLS, when the handshake is over. Call it on the channel's event loop, in the initializer where TLS is added:
    /// later the connection may have ended.
    /// - Returns: fails with `PeerRefusal`.
    public static func peer(of channel: any Channel) -> EventLoopFuture<Peer> {
        let handler = Result { try channel.pipeline.syncOperations.handler(type: HandshakeGate.self) }
        return (try? handler.get())?.peer
            ?? channel.eventLoop.makeFailedFuture(PeerRefusal.noTLS("the connection has ended"))
    }

    private func secure(
        _ channel: any Channel, _ verification: PeerVerification, in room: HandshakeRoom? = nil,
        _ handler: (@escaping NIOSSLCustomVerificationCallback) throws -> NIOSSLHandler
    ) -> EventLoopFuture<Void> {
        do {
            let early = EarlyEnd()
            let gate = HandshakeGate(verification, channel.eventLoop, within: min(silence, patience))
            if room != nil { early.answered = { [patience] in gate.advance(patience) } }
            let held = NIOLoopBound((early, gate), eventLoop: channel.eventLoop)
            let tls = try handler { [patience] chain, promise in
                held.value.0.hold()
                held.value.1.advance(patience)
                verification.judge(chain, promise)
                // A turn later, when NIOSSL has gone on.
                promise.futureResult.whenComplete { _ in
                    promise.futureResult.eventLoop.execute { held.value.0.release() }
                }
            }
            // A turn later, when the gate has passed on what waited.
            let loop = channel.eventLoop
            gate.peer.whenComplete { _ in loop.execute { held.value.0.decided() } }
            try channel.pipeline.syncOperations.addHandlers([LateClose(), early, tls, gate])
            if let room { gate.advanced = room.enter(channel, until: gate.peer) }
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }
}

extension PeerTLS.Question {
    /// The question for a person, who answers yes or no; safe for a terminal.
    public var text: String {
        """
        \(introduction)
        Is it the one that 'discoverd key show' prints there (yes/no)?
        """
    }

    /// Whose key it is, and under which names it is known; safe for a terminal.
    public var introduction: String {
        let who =
            if case .label = name { "A caller names itself \(name.word); its key" } else { "The key of \(name.word)" }
        var lines = ["\(who) is not known:", "  \(key)", "  \(key.words.joined(separator: " "))"]
        if !otherNames.isEmpty {
            lines.append(
                "It is known under another name: \(otherNames.prefix(3).map(\.word).joined(separator: ", "))")
        }
        return lines.joined(separator: "\n")
    }
}

/// Tells a caller that speaks no TLS why its connection ends. Touched by its channel's event loop only.
final class PlainAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The first byte of TLS: a record of the handshake (RFC 8446 §5.1).
    private static let handshake: UInt8 = 22

    private enum State { case waiting, secure, refused }

    private let message: [UInt8]
    private var state = State.waiting

    init(_ message: [UInt8]) { self.message = message }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state == .waiting, let first = unwrapInboundIn(data).readableBytesView.first {
            state = first == Self.handshake ? .secure : .refused
            if state == .refused { refuse(context) }
        }
        // What is plain is not for TLS, whose alert would follow the message.
        if state != .refused { context.fireChannelRead(data) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: message)), promise: nil)
        context.fireErrorCaught(PeerRefusal.noTLS("it speaks no TLS"))
    }
}
#endif
