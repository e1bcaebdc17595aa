internal import NIOCore

/// A connection, as the session keeps it.
struct Link: Sendable {
    /// Times of a connection.
    enum Limits {
        /// How often to say that we are here.
        static let heartbeat: Duration = .seconds(1)
        /// How long a peer may be silent. With one heartbeat more it is known within 5 s.
        static let silence: Duration = .milliseconds(3800)
        /// How long who connected may take to say who it is.
        static let greeting: Duration = .seconds(5)
        /// How long the hello may take of who refused ours because of it.
        static let hello: Duration = .seconds(1)
        /// How long an invitation stands.
        static let invitation: Duration = .seconds(30)
        /// How long a goodbye may take to be sent.
        static let closing: Duration = .seconds(2)
        /// Connections that came and whose peers are not connected.
        static let strangers = 32
    }

    enum Stage: Hashable, Sendable {
        /// Nothing was said.
        case new
        /// It said hello to us, or we to it.
        case greeted
        case connected
        /// The last word is being sent.
        case closing
    }

    let channel: any Channel
    let isIncoming: Bool
    var stage = Stage.new
    /// When the stage was reached.
    var since: SuspendingClock.Instant
    var lastHeard: SuspendingClock.Instant
    /// Nothing is read because nobody takes what was: its silence is ours.
    var isBlocked = false
    /// Where datagrams go and come, if there is such a way.
    var socket: DatagramSocket?
    /// Where the other side takes them.
    var remoteOffer: DatagramOffer?
    var datagrams = DatagramPath()

    init(channel: any Channel, isIncoming: Bool, now: SuspendingClock.Instant) {
        self.channel = channel
        self.isIncoming = isIncoming
        since = now
        lastHeard = now
    }

    mutating func reached(_ stage: Stage, now: SuspendingClock.Instant) {
        self.stage = stage
        since = now
        lastHeard = now
    }

    /// Sends without waiting: for what is small and rare.
    func write(_ frame: Frame) { channel.writeAndFlush(ByteBuffer(bytes: frame.bytes), promise: nil) }

    /// Says that we are here, and which datagrams have arrived.
    func ping() { write(.ping(heard: datagrams.heard)) }

    /// Sends, then closes.
    func close(saying frame: Frame) {
        let channel = channel
        channel.writeAndFlush(ByteBuffer(bytes: frame.bytes)).whenComplete { _ in channel.close(promise: nil) }
    }
}
