package import DNSSD

/// Where a daemon answers, how one gets there, and how much is asked and taken there.
package struct ControlPlace: Sendable {
    /// The path of its socket; of another site's daemon its name.
    package let name: String
    /// Connects, or begins to: what keeps it from that then shows where its first bytes are waited for.
    let connect: @Sendable (Deadline) throws(DiscoveryError) -> UnixConnection
    /// What messages call it, and say where there is no connection.
    let (noun, absence): (String, String)
    /// The longest pause before it is connected to again.
    var longestPause = Duration.seconds(2)
    /// After so long without a word it is asked whether it answers, and has so long.
    var (silence, answer) = (Duration.seconds(5), Duration.seconds(2))
    /// The most queries with a connection of their own.
    var ownStreams = 3
    /// The longest line, in bytes, and the most values of a stream.
    var (longestLine, mostValues) = (LineSplitter.maximumLength, 20_000)
    /// The bytes that are read of it: one that changes without end must not keep a core busy. Nil: as many as come.
    var bytes: TokenBucket?
    /// Is told why nothing comes from it, and nil when something does.
    var became: @Sendable (String?) -> Void = { _ in }

    /// The daemon of this machine whose control socket is there.
    package init(path: String) {
        name = path
        (noun, absence) = ("the discoverd daemon", "no discoverd daemon")
        connect = { deadline throws(DiscoveryError) in try UnixConnection(path: path, until: deadline) }
    }

    /// The daemon of another site: a connection costs a handshake, so there is one, and a ping is seldom. It is known, but what it sends is bounded.
    package init(
        peer: String, became: @escaping @Sendable (String?) -> Void,
        connect: @escaping @Sendable () -> Result<UnixConnection, DiscoveryError>
    ) {
        name = peer
        (noun, absence) = ("it", "it is away")
        self.became = became
        self.connect = { _ throws(DiscoveryError) in try connect().get() }
        (longestPause, silence, answer, ownStreams) = (.seconds(60), .seconds(20), .seconds(5), 0)
        (longestLine, mostValues) = (16 * 1024, 2048)
        bytes = TokenBucket(burst: 2 * 1024 * 1024, perSecond: 64 * 1024)
    }
}
