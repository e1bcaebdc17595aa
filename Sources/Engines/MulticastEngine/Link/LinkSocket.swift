import CLinux
import DNSMessage
import DNSSD
import DiscoverySystem
import Libc

/// A socket of multicast DNS, for one family: one that hears a share of what is said to the group on a link and speaks there, one with a port
/// of its own, which asks, or one that hears what is said to port 5353 of this machine's addresses. An answer to a port of its own names no one's
/// cache (RFC 6762 §6.7): each host that claims a name says so itself.
///
/// A loop watches it, or a thread polls it.
@safe final class LinkSocket {
    /// What it receives. The kernel tells the shares of a group apart, by frames.
    enum Share {
        /// What other hosts say to the group in frames to all; a querier takes their responses however they come.
        case others
        /// What they say to it in frames to this machine alone; a querier takes their questions alone.
        case alone
        /// What this machine says to the group, ourselves among its programs: nobody else can send such.
        case own
        /// All that is said to the group of the loopback interface, where there is nobody else.
        case all
        /// Other hosts' answers to its own port.
        case answers
        /// The same, and this machine's.
        case allAnswers
        /// What is said to this machine's addresses, over any interface.
        case direct
        /// What one host answers to port 5353 of this machine.
        case host
    }

    /// Who reads it.
    enum Reader {
        /// Takes what comes from port 5353 alone, and with `wantsTTL255` nothing that a router forwarded.
        case querier(wantsTTL255: Bool)
        /// Takes what comes from any port.
        case responder
    }

    /// A datagram with what the system says of it.
    struct Datagram {
        let bytes: [UInt8]
        let source: SocketAddress
        let sender: IPAddress
        /// The hop limit that it came with: 255 on its own link (RFC 6762 §11); nil where the system does not say.
        let hops: UInt8?
        /// The index of the interface over which it came; 0 where the system does not say.
        let interface: UInt32
        /// Where it was sent: the group, or an address of this machine; nil where the system does not say.
        let destination: IPAddress?
    }

    /// The most datagrams that `receive` reads at once; further ones wait.
    private static let mostAtOnce = 128

    /// The interface of what hears all of them.
    static let anyInterface = NetworkInterface(index: 0, name: "")

    let interface: NetworkInterface
    let family: IPAddress.Family
    let share: Share
    let descriptor: Int32
    private var watch: LoopWatch?
    private var buffer: [UInt8] = []
    private var drops: UInt32 = 0
    private var isLossy = false

    /// - Parameter interface: `anyInterface` for `.direct`.
    /// - Throws: `SocketError` with errno.
    init(
        on interface: NetworkInterface, _ family: IPAddress.Family, _ share: Share, for reader: Reader
    ) throws(SocketError) {
        (self.interface, self.family, self.share) = (interface, family, share)
        let (number, index) = (family.number, interface.index)
        descriptor =
            switch (share.ofGroup, reader) {
            case (let group?, .querier(let wantsTTL255)): cmulticast_open(number, index, group, wantsTTL255)
            case (let group?, .responder): cmulticast_open_responder(number, index, group)
            case (nil, .querier(let wantsTTL255)):
                cmulticast_open_one_shot(number, index, wantsTTL255, share == .allAnswers)
            case (nil, .responder): cmulticast_open_direct(number)
            }
        guard descriptor >= 0 else { throw SocketError(code: -descriptor) }
    }

    /// Creates the socket that asks one host, from port 5353. While it is there, the host's datagrams from that port to that port are its.
    init(asking host: IPv4Address, on interface: NetworkInterface, wantsTTL255: Bool) throws(SocketError) {
        (self.interface, family, share) = (interface, .ipv4, .host)
        descriptor = cmulticast_open_to_host(interface.index, host.bits, wantsTTL255)
        guard descriptor >= 0 else { throw SocketError(code: -descriptor) }
    }

    deinit {
        // The watch must end before the descriptor can be reused.
        watch?.free()
        if descriptor >= 0 { Libc.close(descriptor) }
    }

    /// It has a port of its own.
    var asks: Bool { share == .answers || share == .allAnswers }
    /// Questions are sent to the group by it: one socket of each family does.
    var sends: Bool { share == .others || share == .all }
    /// The port that it is bound to.
    var port: UInt16 { SocketAddress(of: descriptor)?.port ?? 0 }

    /// Has a loop call `ready` on its thread when something has come.
    func watch(by loop: EventLoop, ready: @escaping () -> Void) {
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    /// Whether the last poll has found something that was not read since; it counts as read.
    func takeReady() -> Bool { watch?.take() ?? false }

    /// Has the system say more of each datagram.
    func trace() { cmulticast_trace(descriptor, family.number) }

    /// Stops watching; the last reference closes the socket.
    func free() {
        watch?.free()
        watch = nil
    }

    /// Sends a packet to the group (RFC 6762 §3).
    /// - Returns: 0 or errno. The system refuses packets while an address is tentative or the link is going away.
    @discardableResult
    func send(_ packet: [UInt8]) -> Int32 {
        unsafe packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe -cmulticast_send(
                descriptor, family.number, interface.index, start, Int32(clamping: bytes.count))
        }
    }

    /// Sends a packet to the host that it asks.
    func ask(_ packet: [UInt8]) { _ = unsafe Libc.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) }

    /// Sends a packet to one host on the link.
    func send(_ packet: [UInt8], to host: IPAddress, port: UInt16 = 5353) {
        var host = host
        if case .v6(let v6, _) = host, v6.isLinkLocal { host = .v6(v6, scope: interface.index) }
        _ = unsafe SocketAddress(host, port: port).withPointer {
            unsafe sendto(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
    }

    /// Reads all available packets into `packets`, up to `limit` bytes in total.
    func receive(into packets: inout PacketQueue, _ buffer: ReceiveBuffer, from link: Link) {
        while packets.size < PacketQueue.limit {
            lookForLosses()
            let count = buffer.receive(descriptor) { bytes, source in
                let sender = family == .ipv4 ? IPv4Address(bits: UInt32(bigEndian: source)) : nil
                packets.append(bytes, link, over: family, share.way, from: PacketSource(source), sender)
            }
            guard count == ReceiveBuffer.slots else { return }
        }
    }

    /// Reads available datagrams, up to 128, each with its source. One that is longer than a message may be is left out.
    func receive() -> [Datagram] {
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: Message.maximumMulticastLength) }
        var datagrams: [Datagram] = []
        for _ in 0..<Self.mostAtOnce {
            var (count, hops, interface) = (Int32(-1), Int32(-1), UInt32(0))
            var destination = [UInt8](repeating: 0, count: 16)
            let source = unsafe SocketAddress(filledBy: { address, length in
                count = unsafe cmulticast_receive_one(
                    descriptor, &buffer, Int32(buffer.count), address, length, &hops, &interface, &destination)
                return count >= 0
            })
            guard let source else { break }
            guard count <= buffer.count, let sender = source.address else { continue }
            datagrams.append(
                Datagram(
                    bytes: Array(buffer.prefix(Int(count))), source: source, sender: sender,
                    hops: UInt8(exactly: hops), interface: interface, destination: address(destination)))
        }
        return datagrams
    }

    private func address(_ bytes: [UInt8]) -> IPAddress? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        guard family == .ipv6 else {
            return .v4(IPv4Address(bits: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
        }
        return IPv6Address(bytes: bytes).map { .v6($0, scope: $0.isLinkLocal ? interface.index : 0) }
    }

    /// Returns whether the kernel dropped packets that count since the last call, for lack of room.
    func hasLost() -> Bool {
        defer { isLossy = false }
        return isLossy && share != .alone
    }

    /// Notes a loss if the kernel's count grows while the queue is nearly full: the count includes packets that the
    /// filter rejected.
    private func lookForLosses() {
        var now: UInt32 = 0
        let isCrowded = unsafe cmulticast_is_crowded(descriptor, &now)
        if isCrowded, now != drops { isLossy = true }
        drops = now
    }
}

extension LinkSocket.Share {
    /// The group's part that it receives; nil of a port of its own.
    fileprivate var ofGroup: cmulticast_share? {
        switch self {
        case .others: CMULTICAST_OTHERS
        case .alone: CMULTICAST_ALONE
        case .own: CMULTICAST_OWN
        case .all: CMULTICAST_ALL
        case .answers, .allAnswers, .direct, .host: nil
        }
    }

    fileprivate var way: PacketQueue.Way {
        switch self {
        case .others: .others
        case .alone: .alone
        case .own, .all: .own
        case .answers, .allAnswers, .direct: .oneShot
        case .host: .host
        }
    }
}

extension IPAddress.Family {
    /// AF_INET or AF_INET6.
    fileprivate var number: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
}

/// The errno with which opening a socket failed.
struct SocketError: Error {
    let code: Int32
    /// Whether another program holds port 5353 and does not share it.
    var isPortTaken: Bool { code == EADDRINUSE }
    /// Whether the link or its address has gone.
    var isOfMissingLink: Bool { code == ENODEV || code == EADDRNOTAVAIL }
}
