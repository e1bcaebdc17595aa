package import DNSMessage
package import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// Asks links for a while, apart from queries: sends what an inquirer asks, and brings it what comes. The one driver of `NameInquiry`,
/// `NameCensus`, `LinkTrial`, `DirectInquiry`, `RecordLookup` and `NameSurvey`.
package final class LinkInquiry {
    /// A packet, as it was sent or received.
    package struct Packet: Sendable {
        package enum Direction: Sendable { case sent, received }

        package let bytes: [UInt8]
        package let interface: NetworkInterface
        package let (source, destination): (IPAddress, IPAddress)
        package let (sourcePort, destinationPort): (UInt16, UInt16)
        package let hops: UInt8
        package let direction: Direction

        package init(
            bytes: [UInt8], interface: NetworkInterface, source: IPAddress, destination: IPAddress, sourcePort: UInt16,
            destinationPort: UInt16, hops: UInt8, _ direction: Direction
        ) {
            (self.bytes, self.interface, self.source, self.destination) = (bytes, interface, source, destination)
            (self.sourcePort, self.destinationPort) = (sourcePort, destinationPort)
            (self.hops, self.direction) = (hops, direction)
        }
    }

    /// The links that are asked, with the families.
    package let links: [(interface: NetworkInterface, families: [IPAddress.Family])]
    /// Those on which the group can be heard: where UDP port 5353 is shared.
    package let hearing: Set<NetworkInterface>
    /// Whether multicast was sent, for each link, and the last error of those it was not.
    package private(set) var sent: Set<NetworkInterface> = []
    package private(set) var refusals: [NetworkInterface: Int32] = [:]
    /// The hosts of whose messages only a part could be read, and why.
    package private(set) var faults: [IPAddress: MessageError] = [:]
    private static let mostFaults = 64
    /// This machine's addresses, without scopes.
    package let ownAddresses: Set<IPAddress>
    private let sockets: [LinkSocket]
    private let neighbours: [NetworkInterface: [AddressBlock]]
    private let log: (Packet) -> Void

    /// The most packets that a run reads.
    private static let mostPackets = 20_000
    /// How often a caller's wish to end is looked at.
    private static let longestWait = Duration.milliseconds(100)

    /// Opens the sockets.
    /// - Parameters:
    ///   - interfaces: the links to ask.
    ///   - family: over which family; nil for both.
    ///   - asQuery: gets what a query does: nothing that a router forwarded, and of the loopback interface where there is no other. An
    ///     inquirer that is to say what is wrong gets more.
    ///   - log: receives every packet, in order.
    package init(
        on interfaces: InterfaceFilter, over family: IPAddress.Family?, asQuery: Bool = false,
        log: @escaping (Packet) -> Void = { _ in }
    ) {
        let usable = SystemInterfaces.usable(by: interfaces)
        let others = usable.filter { !$0.interface.isLoopback }
        let wanted = (asQuery && others.isEmpty ? usable : others).map {
            ($0.interface, $0.families.filter { family == nil || $0 == family })
        }
        let wantsTTL255 = asQuery && ResponderSettings.current.checksTTL
        sockets = wanted.flatMap { interface, families in
            families.flatMap { family in
                let shares: [LinkSocket.Share] = interface.isLoopback ? [.all, .answers] : [.others, .own, .answers]
                return shares.compactMap { share in
                    let socket = try? LinkSocket(on: interface, family, share, for: .querier(wantsTTL255: wantsTTL255))
                    socket?.trace()
                    return socket
                }
            }
        }
        let asking = Set(sockets.filter(\.asks).map(\.interface))
        hearing = Set(sockets.filter { !$0.asks }.map(\.interface))
        links = wanted.filter { asking.contains($0.0) }.map { (interface: $0.0, families: $0.1) }
        neighbours = Dictionary(grouping: AddressBlock.all(), by: \.interface)
        ownAddresses = Set(neighbours.values.joined().map(\.address))
        self.log = log
    }

    /// Asks and listens; blocks.
    /// - Parameters:
    ///   - limit: how long.
    ///   - isStopped: returns whether no answer is wanted any more.
    /// - Returns: whether the inquirer was over before the time was.
    @discardableResult
    package func run(_ inquirer: inout some Inquirer, within limit: Duration, until isStopped: () -> Bool) -> Bool {
        let start = MonotonicTime.now
        var passed: Duration { .microseconds(MonotonicTime.now.microseconds - start.microseconds) }
        var packets = 0
        while packets < Self.mostPackets, !isStopped() {
            let now = passed
            if inquirer.isOver(at: now) { return true }
            guard now < limit else { break }
            for question in inquirer.questions(at: now) { send(question) }
            let wait = min(Self.longestWait, limit - now, (inquirer.deadline(after: now) ?? limit) - now)
            let ready = ready(within: wait)
            let heard = passed
            for socket in ready {
                for datagram in socket.receive() {
                    packets += 1
                    note(datagram, of: socket)
                    guard let read = HeardMessage(datagram.bytes) else { continue }
                    if let fault = read.fault, faults.count < Self.mostFaults { faults[datagram.sender] = fault }
                    inquirer.received(read.message, arrival(datagram, of: socket), at: heard)
                }
            }
        }
        return false
    }

    /// Waits until something comes, for `time` and a millisecond at the most.
    private func ready(within time: Duration) -> [LinkSocket] {
        var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let milliseconds = max(.zero, time).wholeMicroseconds / 1000 + 1
        guard unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: milliseconds)) > 0 else { return [] }
        return zip(sockets, polled).filter { $0.1.revents != 0 }.map(\.0)
    }

    private func arrival(_ datagram: LinkSocket.Datagram, of socket: LinkSocket) -> Arrival {
        Arrival(
            from: datagram.sender, on: socket.interface, socket.asks ? .answer : socket.share == .own ? .own : .group,
            hops: datagram.hops,
            place: ownAddresses.contains(datagram.sender.withoutScope)
                ? .here : isNear(datagram.sender, socket.interface) ? .link : .elsewhere)
    }

    private func isNear(_ address: IPAddress, _ interface: NetworkInterface) -> Bool {
        neighbours[interface]?.contains { $0.block.contains(address) } ?? false
    }

    private func send(_ question: OutgoingQuestion) {
        for socket in sockets where socket.share != .own {
            switch question.path {
            case .group where socket.asks, .shared where !socket.asks: sendToGroup(question.bytes, socket)
            case .link(socket.interface, socket.family) where socket.asks: sendToGroup(question.bytes, socket)
            case .host(let host) where socket.asks && socket.family == host.family && isNear(host, socket.interface):
                socket.send(question.bytes, to: host)
                note(question.bytes, to: host, socket)
            default: break
            }
        }
    }

    private func sendToGroup(_ bytes: [UInt8], _ socket: LinkSocket) {
        let code = socket.send(bytes)
        guard code == 0 else {
            refusals[socket.interface] = code
            return
        }
        sent.insert(socket.interface)
        if let group = IPAddress(socket.family == .ipv4 ? "224.0.0.251" : "ff02::fb") { note(bytes, to: group, socket) }
    }

    private func note(_ bytes: [UInt8], to destination: IPAddress, _ socket: LinkSocket) {
        let own = neighbours[socket.interface]?.first { $0.address.family == socket.family }?.address
        guard let own else { return }
        log(
            Packet(
                bytes: bytes, interface: socket.interface, source: own, destination: destination,
                sourcePort: socket.port, destinationPort: 5353, hops: 255, .sent))
    }

    private func note(_ datagram: LinkSocket.Datagram, of socket: LinkSocket) {
        // Our questions were noted as they were sent.
        let isQuestion = datagram.bytes.count > 2 && datagram.bytes[2] & 0x80 == 0
        guard let destination = datagram.destination, !(socket.share == .own && isQuestion) else { return }
        log(
            Packet(
                bytes: datagram.bytes, interface: socket.interface, source: datagram.sender, destination: destination,
                sourcePort: datagram.source.port ?? 0, destinationPort: socket.port, hops: datagram.hops ?? 0,
                .received))
    }
}
