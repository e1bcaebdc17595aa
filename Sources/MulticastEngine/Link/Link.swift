import CMulticast
import DNSMessage
import DNSSD
import System

/// One link of this machine, over one family or both: its sockets, and what is known and asked there. Used only on the
/// loop's thread.
final class Link {
    let key: LinkKey
    private(set) var sockets: [LinkSocket] = []
    /// There are some only while one-shot questions are open.
    private var oneShots: [OneShotSocket] = []
    private var makeOneShot: (IPAddress.Family) -> OneShotSocket? = { _ in nil }
    var querier = LinkQuerier(cache: RecordCache(seed: .random(in: .min ... .max)))
    /// The last packets sent announced more known answers (TC).
    private(set) var wasTruncated = false
    /// A packet could not be sent over one family.
    private(set) var isRefused = false
    /// Why nothing could be sent the last time; nil if something was.
    private(set) var refusal: Int32?
    /// Times that nothing could be sent, up to now.
    private var refusedInARow = 0
    /// So often what was refused is sent again soon: a firewall that drops at random lets it pass, one that drops all never does.
    private static let mostRepeated = 8
    /// Why one family has no socket; nil if both have one.
    private(set) var refusedFamily: SocketError?
    /// When lost packets last caused all questions to restart.
    var hastened: Duration?
    /// Operations have been told that records are omitted.
    var isFull = false

    init(_ key: LinkKey) { self.key = key }

    var interface: NetworkInterface { key.interface }

    /// The only link without other hosts.
    var isLoopback: Bool { interface.isLoopback }

    /// Opens sockets for new families, and closes those of families that are gone.
    /// - Returns: whether there are new ones.
    func open(
        _ families: [IPAddress.Family], wantsTTL255: Bool, loop: EventLoop, ready: @escaping () -> Void
    ) throws(SocketError) -> Bool {
        for socket in sockets where !families.contains(socket.family) { socket.free() }
        sockets.removeAll { !families.contains($0.family) }
        refusedFamily = nil
        var hasNew = false
        for family in families where !sockets.contains(where: { $0.family == family }) {
            var made: [LinkSocket] = []
            do throws(SocketError) {
                let shares = isLoopback ? [CMULTICAST_ALL] : [CMULTICAST_OTHERS, CMULTICAST_OWN]
                for share in shares {
                    made.append(
                        try LinkSocket(
                            on: interface.index, family, share, wantsTTL255: wantsTTL255, loop: loop, ready: ready))
                }
                sockets += made
                hasNew = true
            } catch let refusal {
                for socket in made { socket.free() }
                refusedFamily = refusal
            }
        }
        if sockets.isEmpty, let refusedFamily { throw refusedFamily }
        if hasNew { freeOneShots() }
        makeOneShot = { [interface] family in
            OneShotSocket(on: interface.index, family, wantsTTL255: wantsTTL255, loop: loop, ready: ready)
        }
        querier.uses(sockets.map(\.family))
        return hasNew
    }

    func close() {
        for socket in sockets { socket.free() }
        sockets = []
        freeOneShots()
    }

    private func freeOneShots() {
        for socket in oneShots { socket.free() }
        oneShots = []
    }

    func read(into packets: inout PacketQueue, _ buffer: ReceiveBuffer) {
        for socket in sockets { socket.receive(into: &packets, buffer, from: self) }
        for socket in oneShots {
            socket.receive { bytes, source in
                // RFC 6762 §11: what comes by unicast is of this link if its source is.
                guard packets.size < PacketQueue.limit, isLoopback || querier.cache.isOfNeighbour(source) else {
                    return
                }
                packets.append(bytes, self, over: socket.family, .oneShot)
            }
        }
    }

    /// Whether packets were dropped since the last call.
    func hasLost() -> Bool { sockets.reduce(false) { $1.hasLost() || $0 } }

    /// - Parameter marksOwn: what this machine has said is its own.
    func received(
        _ message: Message, _ way: PacketQueue.Way, over family: IPAddress.Family, marksOwn: Bool, at now: Duration
    ) -> [RecordCache.Change] {
        let isResponse = message.flags.contains(.response)
        if way == .oneShot { return querier.receivedOneShot(message, isOwn: isLoopback && marksOwn, at: now) }
        // On the loopback interface all questions come from this machine, including our own.
        if isLoopback, !isResponse { return [] }
        return querier.received(message, isOwn: way == .own && (marksOwn || !isResponse), over: family, at: now)
    }

    /// Sends what is due.
    /// - Returns: whether the system refused all that was to be sent, for the first time or again, a few times in a row.
    func send(at now: Duration) -> Bool {
        sendOneShots(at: now)
        let packets = querier.packets(at: now)
        guard !packets.isEmpty else { return false }
        wasTruncated = packets.contains { $0.count > 2 && $0[2] & 0x02 != 0 }
        let errors = sockets.filter { !$0.isOwn || isLoopback }
            .map { socket in packets.reduce(0) { error, packet in max(error, socket.send(packet)) } }
        isRefused = errors.contains { $0 != 0 }
        refusal = errors.allSatisfy { $0 != 0 } ? errors.first : nil
        refusedInARow = refusal == nil ? 0 : refusedInARow + 1
        return 1...Self.mostRepeated ~= refusedInARow
    }

    private func sendOneShots(at now: Duration) {
        let packets = querier.oneShotPackets(at: now)
        if !packets.isEmpty, oneShots.isEmpty {
            oneShots = Set(sockets.map(\.family)).compactMap(makeOneShot)
        }
        for socket in oneShots { for packet in packets { socket.send(packet) } }
        if !querier.awaitsOneShots { freeOneShots() }
    }
}
