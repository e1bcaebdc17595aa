#if TLS
internal import DNSSD
public import NIOCore
internal import NIOSSL
public import PeerIdentity

/// Mutual TLS 1.3 (RFC 8446) between machines that know each other's keys. One line in the pipeline of a connection:
///
///     network.connect(to: tony) { channel in tls.secure(channel, calling: .service(tony)) }
///     network.listen("tony", type: type) { channel in tls.secure(answering: channel) }
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
    }

    /// A peer whose key was accepted.
    public struct Peer: Hashable, Sendable {
        /// The name that was dialled, or a caller's claim.
        public var name: PeerName
        /// Its key.
        public var key: KeyFingerprint
        /// It was not known before.
        public var isNew: Bool

        /// Creates a peer, for tests.
        public init(name: PeerName, key: KeyFingerprint, isNew: Bool) {
            self.name = name
            self.key = key
            self.isNew = isNew
        }
    }

    /// This machine.
    public let identity: MachineIdentity
    /// Who is let in.
    public var trust: PeerTrust
    /// The keys that are known, and become known.
    public var known: KnownPeersFile
    /// Asks a person about a key that is not known; nil: nobody can be asked.
    public var ask: (@Sendable (Question) async -> Bool)?
    /// How long a peer may be silent at first.
    public var silence: Duration = .seconds(10)
    /// The longest that a handshake takes: a person may be asked, on either side.
    public var patience: Duration = .seconds(60)

    private let client: NIOSSLContext
    private let server: NIOSSLContext

    /// - Throws: where the identity cannot be used for TLS.
    public init(
        identity: MachineIdentity, known: KnownPeersFile, trust: PeerTrust = .known,
        ask: (@Sendable (Question) async -> Bool)? = nil
    ) throws {
        self.identity = identity
        self.known = known
        self.trust = trust
        self.ask = ask
        let chain = [NIOSSLCertificateSource.certificate(identity.certificate)]
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
    public func secure(_ channel: any Channel, calling name: PeerName) -> EventLoopFuture<Void> {
        secure(channel, PeerVerification(self, .calling(name))) { callback in
            try NIOSSLClientHandler(context: client, serverHostname: nil, customVerificationCallback: callback)
        }
    }

    /// Adds TLS to a connection that was accepted; the first handler of its pipeline. Call it on the channel's event loop.
    public func secure(answering channel: any Channel) -> EventLoopFuture<Void> {
        secure(channel, PeerVerification(self, .answering)) { callback in
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
        _ channel: any Channel, _ verification: PeerVerification,
        _ handler: (@escaping NIOSSLCustomVerificationCallback) throws -> NIOSSLHandler
    ) -> EventLoopFuture<Void> {
        do {
            let early = EarlyEnd()
            let gate = HandshakeGate(verification, channel.eventLoop, within: min(silence, patience))
            early.heard = { [patience] in gate.wait(patience) }
            let held = NIOLoopBound(early, eventLoop: channel.eventLoop)
            let tls = try handler { chain, promise in
                held.value.hold()
                verification.judge(chain, promise)
                // A turn later, when NIOSSL has gone on.
                promise.futureResult.whenComplete { _ in promise.futureResult.eventLoop.execute { held.value.release() }
                }
            }
            try channel.pipeline.syncOperations.addHandlers([early, tls, gate])
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }
}
#endif
