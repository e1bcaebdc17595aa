internal import NIOCore

/// A connection, as the session tracks it.
struct Link: Sendable {
    /// Time limits of a connection.
    enum Limits {
        /// How often to send a sign of life.
        static let heartbeat: Duration = .seconds(1)
        /// How long a peer may be silent. Together with one heartbeat, silence is noticed within 5 s.
        static let silence: Duration = .milliseconds(3800)
        /// How long a client may take to introduce itself.
        static let greeting: Duration = .seconds(5)
        /// How long to wait for the hello of a peer that refused ours because of it.
        static let hello: Duration = .seconds(1)
        /// How long an invitation stands.
        static let invitation: Duration = .seconds(30)
        /// How long sending a goodbye may take.
        static let closing: Duration = .seconds(2)
        /// Maximum number of incoming connections whose peers are not connected yet.
        static let strangers = 32
    }

    enum Stage: Hashable, Sendable {
        /// TLS is not established yet; its handshake has time limits of its own.
        case securing
        /// Nothing has been said.
        case new
        /// One side has said hello.
        case greeted
        case connected
        /// The last frame is being sent.
        case closing
    }

    let channel: any Channel
    let isIncoming: Bool
    /// Who the peer is; nil without TLS.
    var identity: LinkIdentity?
    var stage: Stage
    /// When this stage was reached.
    var since: SuspendingClock.Instant
    var lastHeard: SuspendingClock.Instant
    /// Reading is paused because no one takes the messages: the silence is our own doing.
    var isBlocked = false
    /// Sends and receives datagrams, if possible.
    var socket: DatagramSocket?
    /// Where the other side takes datagrams.
    var remoteOffer: DatagramOffer?
    var datagrams = DatagramPath()
    /// Writes the datagrams.
    var seal: any DatagramSealing = PlainSeal()

    init(channel: any Channel, isIncoming: Bool, stage: Stage = .new, now: SuspendingClock.Instant) {
        self.channel = channel
        self.isIncoming = isIncoming
        self.stage = stage
        since = now
        lastHeard = now
    }

    mutating func reached(_ stage: Stage, now: SuspendingClock.Instant) {
        self.stage = stage
        since = now
        lastHeard = now
    }

    /// Sends without waiting; for small and rare frames.
    func write(_ frame: Frame) { channel.writeAndFlush(ByteBuffer(bytes: frame.bytes), promise: nil) }

    /// Sends a sign of life, and confirms the datagrams that have arrived.
    func ping() { write(.ping(heard: datagrams.heard)) }

    /// Sends a frame, then closes.
    func close(saying frame: Frame) {
        let channel = channel
        channel.writeAndFlush(ByteBuffer(bytes: frame.bytes)).whenComplete { _ in channel.close(promise: nil) }
    }
}
