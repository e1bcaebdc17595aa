import CMulticast
import DNSMessage
import DNSSD
import System

/// One link of this machine, over one family or both: its sockets, and what is known and asked there. Used only on the
/// loop's thread.
final class Link {
    let key: LinkKey
    private(set) var sockets: [LinkSocket] = []
    var querier = LinkQuerier(cache: RecordCache(seed: .random(in: .min ... .max)))
    /// The last packets sent announced more known answers (TC).
    private(set) var wasTruncated = false
    /// A packet could not be sent over one family.
    private(set) var isRefused = false
    /// Why nothing could be sent the last time; nil if something was.
    private(set) var refusal: Int32?
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
        querier.uses(sockets.map(\.family))
        return hasNew
    }

    func close() {
        for socket in sockets { socket.free() }
        sockets = []
    }

    func read(into packets: inout PacketQueue, _ buffer: ReceiveBuffer) {
        for socket in sockets { socket.receive(into: &packets, buffer, from: self) }
    }

    /// Whether packets were dropped since the last call.
    func hasLost() -> Bool { sockets.reduce(false) { $1.hasLost() || $0 } }

    func received(
        _ message: Message, isOwn: Bool, over family: IPAddress.Family, at now: Duration
    ) -> [RecordCache.Change] {
        // On the loopback interface all questions come from this machine, including our own.
        if isLoopback, !message.flags.contains(.response) { return [] }
        return querier.received(message, isOwn: isOwn, over: family, at: now)
    }

    /// Sends what is due.
    func send(at now: Duration) {
        let packets = querier.packets(at: now)
        guard !packets.isEmpty else { return }
        wasTruncated = packets.contains { $0.count > 2 && $0[2] & 0x02 != 0 }
        let errors = sockets.filter { !$0.isOwn || isLoopback }
            .map { socket in packets.reduce(0) { error, packet in max(error, socket.send(packet)) } }
        isRefused = errors.contains { $0 != 0 }
        refusal = errors.allSatisfy { $0 != 0 } ? errors.first : nil
    }
}
