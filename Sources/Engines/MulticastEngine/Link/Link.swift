import DNSMessage
import DNSSD
import DiscoverySystem

/// One link of this machine: its sockets over the families that someone wants, and its querier. Used only on the loop's thread.
final class Link {
    let interface: NetworkInterface
    private(set) var sockets: [LinkSocket] = []
    /// Sockets for one-shot questions; empty while none is open.
    private var oneShots: [LinkSocket] = []
    private var makeOneShot: (IPAddress.Family) -> LinkSocket? = { _ in nil }
    /// Sockets that ask one host each, as long as its answer is waited for.
    private var asking: [IPv4Address: LinkSocket] = [:]
    private var makeAsking: (IPv4Address) -> LinkSocket? = { _ in nil }
    /// This machine's addresses on it, without scopes.
    var ownAddresses: Set<IPAddress> = []
    var querier = LinkQuerier(cache: RecordCache(seed: .random(in: .min ... .max)))
    /// Whether the packets sent last announced more known answers (TC).
    private(set) var wasTruncated = false
    private(set) var delivery = QuestionDelivery.sent
    /// Packets of known answers that were sent, and come back.
    private var echoes = Echoes()
    /// Why families have no socket.
    private(set) var refused: [IPAddress.Family: SocketError] = [:]
    private enum Carrier { case unknown, there, gone }

    private var lastCarrier = Carrier.unknown
    /// When lost packets last caused all questions to restart.
    var hastened: Duration?
    /// Whether operations know that records are left out.
    var isFull = false

    /// Whether questions were put since operations last heard of it, by this machine or others.
    private var hasAsked = false
    /// When a family was last added.
    private var widened: Duration?
    /// How long the questions that were asked before do not count as asked: those over the new family are on their way.
    private static let widening = Duration.seconds(10)

    init(_ interface: NetworkInterface) { self.interface = interface }

    var families: Set<IPAddress.Family> { Set(sockets.map(\.family)) }
    var key: LinkKey { LinkKey(interface: interface, families: families) }

    /// Returns how often a question counts as asked for an operation that comes: whoever wants one family alone has it asked anew.
    func timesAsked(_ key: RecordKey, over family: IPAddress.Family?, at now: Duration) -> Int {
        let isNew = family != nil || widened.map { now - $0 < Self.widening } ?? false
        return isNew ? 0 : querier.timesAsked(key)
    }

    /// Whether this is the loopback interface, which no other host can reach.
    var isLoopback: Bool { interface.isLoopback }

    /// Opens sockets for new families, and closes those of families that are gone.
    /// - Returns: whether there are new ones.
    func open(
        _ wanted: LinkSelection.Wanted, wantsTTL255: Bool, loop: EventLoop, at now: Duration,
        ready: @escaping () -> Void
    ) throws(SocketError) -> Bool {
        let families = wanted.families
        let isFirst = sockets.isEmpty
        for socket in sockets where !families.contains(socket.family) { socket.free() }
        sockets.removeAll { !families.contains($0.family) }
        if !families.contains(.ipv4) { freeAsking() }
        refused = [:]
        var hasNew = false
        for family in families where !sockets.contains(where: { $0.family == family }) {
            var made: [LinkSocket] = []
            do throws(SocketError) {
                for share: LinkSocket.Share in isLoopback ? [.all] : [.others, .alone, .own] {
                    made.append(try LinkSocket(on: interface, family, share, for: .querier(wantsTTL255: wantsTTL255)))
                }
                for socket in made { socket.watch(by: loop, ready: ready) }
                sockets += made
                hasNew = true
            } catch let refusal {
                for socket in made { socket.free() }
                refused[family] = refusal
            }
        }
        if sockets.isEmpty, let refusal = refused.values.first { throw refusal }
        if hasNew { freeOneShots() }
        if hasNew, !isFirst { widened = now }
        makeOneShot = { [interface] family in
            let socket = try? LinkSocket(on: interface, family, .allAnswers, for: .querier(wantsTTL255: wantsTTL255))
            socket?.watch(by: loop, ready: ready)
            return socket
        }
        makeAsking = { [interface] host in
            let socket = try? LinkSocket(asking: host, on: interface, wantsTTL255: wantsTTL255)
            socket?.watch(by: loop, ready: ready)
            return socket
        }
        querier.uses(IPAddress.Family.allCases.filter(self.families.contains), apart: wanted.isApart)
        return hasNew
    }

    /// Whether it has sockets. One that is closed is forgotten with all that was asked on it.
    var isOpen: Bool { !sockets.isEmpty }

    func close() {
        for socket in sockets { socket.free() }
        sockets = []
        freeOneShots()
    }

    private func freeOneShots() {
        for socket in oneShots { socket.free() }
        oneShots = []
        freeAsking()
    }

    private func freeAsking() {
        for socket in asking.values { socket.free() }
        asking = [:]
    }

    func read(into packets: inout PacketQueue, _ buffer: ReceiveBuffer) {
        for socket in sockets { socket.receive(into: &packets, buffer, from: self) }
        for socket in oneShots {
            // RFC 6762 §11: a unicast answer counts only if its source is on this link.
            for datagram in socket.receive()
            where packets.size < PacketQueue.limit && (isLoopback || querier.cache.isOfNeighbour(datagram.sender)) {
                let isOwn = isLoopback || ownAddresses.contains(datagram.sender.withoutScope)
                let sender = if case .v4(let address) = datagram.sender { address } else { nil as IPv4Address? }
                packets.append(
                    datagram.bytes, self, over: socket.family, isOwn ? .ownOneShot : .oneShot,
                    from: PacketSource(datagram.sender), sender)
            }
        }
        for socket in asking.values where socket.takeReady() { socket.receive(into: &packets, buffer, from: self) }
    }

    /// Notes whether the interface has a carrier.
    /// - Returns: whether it has come back.
    func carrier(isThere: Bool) -> Bool {
        defer { lastCarrier = isThere ? .there : .gone }
        return isThere && lastCarrier == .gone
    }

    /// Whether packets were dropped since the last call.
    func hasLost() -> Bool { sockets.reduce(false) { $1.hasLost() || $0 } }

    /// Returns whether questions were put since the last call.
    func takeAsked() -> Bool {
        defer { hasAsked = querier.isSending }
        return hasAsked
    }

    /// Whether a packet is one of known answers that this process sent: it says nothing new, and of a long list there are hundreds.
    func isEcho(_ packet: PacketQueue.Packet) -> Bool {
        packet.way == .own && Self.isOfAnswersAlone(packet.bytes)
            && echoes.take(packet.bytes, on: interface, over: packet.family)
    }

    /// Whether a packet of this process goes on with known answers, behind a question in another (RFC 6762 §7.2).
    private static func isOfAnswersAlone(_ packet: [UInt8]) -> Bool {
        packet.count > 12 && packet[2] & 0x80 == 0 && packet[4] == 0 && packet[5] == 0
    }

    /// Processes a message.
    /// - Parameters:
    ///   - message: the message.
    ///   - way: how it came.
    ///   - family: the family over which it came.
    ///   - marksOwn: whether records from this machine count as its own.
    ///   - now: the time.
    /// - Returns: the changes of the cache.
    func received(
        _ message: Message, as packet: PacketQueue.Packet, marksOwn: Bool, at now: Duration
    ) -> [RecordCache.Change] {
        let way = packet.way
        let isResponse = message.flags.contains(.response)
        // Questions of other hosts count too; ours were noted as they were sent.
        if !isResponse, way != .own { hasAsked = true }
        if way == .oneShot || way == .ownOneShot {
            let isFromHere = way == .ownOneShot && marksOwn
            // The kernel lets no packet from a link in with an IPv4 source of its own (martians, RFC 1812 §5.3.8); over IPv6 it does.
            return querier.receivedOneShot(
                message, isFromHere: isFromHere, isOwn: isFromHere && (isLoopback || packet.family == .ipv4),
                over: packet.family, from: packet.source, sender: packet.sender, size: packet.bytes.count, at: now)
        }
        if way == .host { return packet.sender.map { querier.receivedFromHost(message, $0, at: now) } ?? [] }
        // On the loopback interface all questions come from this machine, including our own.
        if isLoopback, !isResponse { return [] }
        return querier.received(
            message, isOwn: way == .own && (marksOwn || !isResponse), wentToAll: way != .alone, over: packet.family,
            from: packet.source, sender: packet.sender, size: packet.bytes.count, at: now)
    }

    /// Sends the packets that are due.
    /// - Returns: whether the system refused all of them and they should be repeated soon, as the first few times in a
    ///   row.
    func send(at now: Duration) -> Bool {
        sendOneShots(at: now)
        let packets = querier.packets(at: now)
        guard !packets.isEmpty else { return false }
        hasAsked = true
        wasTruncated = packets.contains { $0.count > 2 && $0[2] & 0x02 != 0 }
        let errors = sockets.filter(\.sends)
            .map { socket in packets.reduce(0) { error, packet in max(error, send(packet, by: socket, at: now)) } }
        return delivery.note(errors)
    }

    private func send(_ packet: [UInt8], by socket: LinkSocket, at now: Duration) -> Int32 {
        let error = socket.send(packet)
        if error == 0, Self.isOfAnswersAlone(packet) {
            echoes.sent(packet, on: interface, over: socket.family, at: now)
        }
        return error
    }

    private func sendOneShots(at now: Duration) {
        let packets = querier.oneShotPackets(at: now)
        if !packets.isEmpty, oneShots.isEmpty {
            oneShots = Set(sockets.map(\.family)).compactMap(makeOneShot)
        }
        for socket in oneShots { for packet in packets { socket.send(packet) } }
        for (host, packet) in querier.hostPackets(at: now) {
            asking[host] = asking[host] ?? (families.contains(.ipv4) ? makeAsking(host) : nil)
            if let socket = asking[host] { socket.ask(packet) } else { querier.cannotAsk(host) }
        }
        if !asking.isEmpty {
            let awaited = querier.awaitedHosts
            for (host, socket) in asking where !awaited.contains(host) {
                socket.free()
                asking[host] = nil
            }
        }
        if !querier.awaitsOneShots, asking.isEmpty { freeOneShots() }
    }
}
