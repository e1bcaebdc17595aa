import CMulticast
import DNSMessage
import DNSSD
import DiscoverySystem
import Libc

/// A socket of one link and family: for the group, or with a port of its own, which asks. An answer to that port names no one's cache (RFC 6762
/// §6.7): each host that claims a name says so itself.
@safe final class SurveySocket {
    private static let longest = 9000
    private static let mostAtOnce = 64

    /// What has come.
    struct Datagram {
        let bytes: [UInt8]
        let source: SocketAddress
        let sender: IPAddress
        /// The hop limit that it came with: 255 on its own link (RFC 6762 §11); nil where the system does not say.
        let hops: UInt8?
        /// Where it was sent: the group, or an address of this machine; nil where the system does not say.
        let destination: IPAddress?
    }

    let interface: NetworkInterface
    let descriptor: Int32
    let family: IPAddress.Family
    /// It has a port of its own.
    let asks: Bool
    /// It gets only what this machine sends.
    let isOwn: Bool

    private init?(
        _ descriptor: Int32, _ interface: NetworkInterface, _ family: IPAddress.Family, asks: Bool, isOwn: Bool = false
    ) {
        guard descriptor >= 0 else { return nil }
        cmulticast_trace(descriptor, family.number)
        self.isOwn = isOwn
        self.descriptor = descriptor
        self.interface = interface
        self.family = family
        self.asks = asks
    }

    deinit { close(descriptor) }

    static func open(
        on interface: NetworkInterface, _ family: IPAddress.Family, wantsTTL255: Bool
    ) -> [SurveySocket] {
        let shares = (interface.isLoopback ? [CMULTICAST_ALL] : [CMULTICAST_OTHERS, CMULTICAST_OWN]).map { share in
            SurveySocket(
                cmulticast_open(family.number, interface.index, share, wantsTTL255), interface, family, asks: false,
                isOwn: share == CMULTICAST_OWN)
        }
        let own = SurveySocket(
            cmulticast_open_one_shot(family.number, interface.index, wantsTTL255), interface, family, asks: true)
        return (shares + [own]).compactMap(\.self)
    }

    /// The port that it is bound to.
    var port: UInt16 { SocketAddress(of: descriptor)?.port ?? 0 }

    /// Asks, in as many packets as it takes; what the system refuses is not asked.
    func ask(_ questions: [Question]) {
        guard asks else { return }
        for chunk in stride(from: 0, to: questions.count, by: 8) {
            var writer = MessageWriter(limit: 1400, compression: .multicast)
            for question in questions[chunk..<min(chunk + 8, questions.count)] { _ = writer.add(question) }
            send(writer.bytes)
        }
    }

    /// Sends a packet to the group.
    /// - Returns: 0, or the `errno` of the system that refuses it.
    @discardableResult
    func send(_ packet: [UInt8]) -> Int32 {
        MulticastGroup(family: family, interface: interface.index).send(packet, by: descriptor)
    }

    /// Sends a packet to one host's port 5353.
    /// - Returns: 0, or the `errno` of the system that refuses it.
    @discardableResult
    func send(_ packet: [UInt8], to host: IPAddress) -> Int32 {
        let count = unsafe SocketAddress(host, port: 5353).withPointer {
            unsafe sendto(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
        return count < 0 ? errno : 0
    }

    /// What has come.
    func receive() -> [Datagram] {
        var packets: [Datagram] = []
        for _ in 0..<Self.mostAtOnce {
            var bytes = [UInt8](repeating: 0, count: Self.longest)
            var (count, hops) = (Int32(-1), Int32(-1))
            var destination = [UInt8](repeating: 0, count: 16)
            let source = unsafe SocketAddress(filledBy: { address, length in
                count = unsafe cmulticast_receive_one(
                    descriptor, &bytes, Int32(Self.longest), address, length, &hops, &destination)
                return count >= 0
            })
            guard let source else { break }
            guard count <= Self.longest, let sender = source.address else { continue }
            packets.append(
                Datagram(
                    bytes: Array(bytes.prefix(Int(count))), source: source, sender: sender,
                    hops: UInt8(exactly: hops), destination: address(destination)))
        }
        return packets
    }

    private func address(_ bytes: [UInt8]) -> IPAddress? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        guard family == .ipv6 else {
            return .v4(IPv4Address(bits: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
        }
        return IPv6Address(bytes: bytes).map { .v6($0, scope: $0.isLinkLocal ? interface.index : 0) }
    }
}
