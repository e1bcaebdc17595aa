import DNSMessage
import NIOCore

/// The state that messages share: places for messages under way, connections, and silent servers. Used on its event
/// loop.
final class DNSTransport {
    /// The most messages under way; BIND drops some of 256 (docs/decisions/0037-beyond-one-link.md).
    private static let maximumUnderWay = 16
    /// The most messages that wait for their turn.
    private static let maximumWaiting = 20_000

    let eventLoop: any EventLoop
    var silentServers = SilentServers()
    /// The connection to each server that messages are sent over.
    private var streams: [ServerAddress: DNSStream] = [:]
    /// All connections.
    private var open: [UInt64: DNSStream] = [:]
    private var lastStream: UInt64 = 0
    private var underWay = 0
    private var waiting = CircularBuffer<() -> Void>()
    private var isClosed = false
    /// The runs that have no result yet.
    private var runs: [ObjectIdentifier: any TransportRun] = [:]

    /// The failure of messages after `close`.
    static let isClosedFailure = DNSFailure.silent("no DNS server is asked any more: the engine has ended")

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// The time on the event loop's clock.
    var now: Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    /// Begins a run when there is a place for it; `leave` gives the place back.
    /// - Returns: false if too many wait, or after `close`.
    func enqueue(_ run: any TransportRun) -> Bool {
        guard !isClosed, waiting.count < Self.maximumWaiting else { return false }
        runs[ObjectIdentifier(run)] = run
        waiting.append { run.begin() }
        startNext()
        return true
    }

    /// Forgets a run, because it has its result.
    func ended(_ run: any TransportRun) { runs[ObjectIdentifier(run)] = nil }

    /// Gives a place back.
    func leave() {
        underWay -= 1
        startNext()
    }

    private func startNext() {
        while underWay < Self.maximumUnderWay, let start = waiting.popFirst() {
            underWay += 1
            start()
        }
    }

    /// Returns the connection to a server, making one if there is none.
    func stream(to server: ServerAddress) -> DNSStream {
        streams[server] ?? freshStream(to: server)
    }

    /// Makes a connection to a server, for all further messages; what is under way on another one stays there.
    func freshStream(to server: ServerAddress) -> DNSStream {
        lastStream += 1
        let number = lastStream
        let stream = DNSStream(to: server, on: eventLoop) { [weak self] in
            guard let self else { return }
            open[number] = nil
            if streams[server].map({ $0.isClosed }) ?? false { streams[server] = nil }
        }
        // The connection may have failed at once.
        if !stream.isClosed { (streams[server], open[number]) = (stream, stream) }
        return stream
    }

    /// Calls `body` after a delay.
    func after(_ delay: Duration, _ body: @escaping () -> Void) -> Scheduled<Void> {
        let (seconds, attoseconds) = max(delay, .zero).components
        let amount = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return eventLoop.assumeIsolated().scheduleTask(in: amount, body)
    }

    /// Closes all connections; all messages fail.
    func close() {
        isClosed = true
        for run in runs.values { run.giveUp(Self.isClosedFailure) }
        for stream in open.values { stream.close() }
    }
}

/// Remembers servers that did not answer lately, so that others are asked first.
struct SilentServers: Sendable {
    /// How long a server is remembered.
    private static let memory = Duration.seconds(30)
    private static let maximum = 64

    private var until: [ServerAddress: Duration] = [:]

    /// Remembers a server that did not answer.
    mutating func add(_ server: ServerAddress, at time: Duration) {
        until = until.filter { $0.value > time }
        guard until.count < Self.maximum || until[server] != nil else { return }
        until[server] = time + Self.memory
    }

    /// Forgets a server, because it answered.
    mutating func remove(_ server: ServerAddress) { until[server] = nil }

    /// Returns the servers in their order, but the silent ones last.
    func sorted(_ servers: [ServerAddress], at time: Duration) -> [ServerAddress] {
        let isSilent = { (server: ServerAddress) in (until[server] ?? .zero) > time }
        return servers.filter { !isSilent($0) } + servers.filter(isSilent)
    }
}
