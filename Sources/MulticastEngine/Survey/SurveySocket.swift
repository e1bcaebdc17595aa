import CMulticast
import DNSMessage
import DNSSD
import Glibc
import System

/// A socket of one link and family: for the group, or with a port of its own, which asks. An answer to that port names no one's cache (RFC 6762
/// §6.7): each host that claims a name says so itself.
@safe final class SurveySocket {
    private static let longest = 9000
    private static let mostAtOnce = 64

    let interface: NetworkInterface
    let descriptor: Int32
    let family: IPAddress.Family
    /// It has a port of its own.
    let asks: Bool

    private init?(_ descriptor: Int32, _ interface: NetworkInterface, _ family: IPAddress.Family, asks: Bool) {
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.interface = interface
        self.family = family
        self.asks = asks
    }

    deinit { close(descriptor) }

    static func open(
        on interface: NetworkInterface, _ family: IPAddress.Family, wantsTTL255: Bool
    ) -> [SurveySocket] {
        let number = family == .ipv4 ? AF_INET : AF_INET6
        let shares = (interface.isLoopback ? [CMULTICAST_ALL] : [CMULTICAST_OTHERS, CMULTICAST_OWN]).map { share in
            SurveySocket(
                cmulticast_open(number, interface.index, share, wantsTTL255), interface, family, asks: false)
        }
        let own = SurveySocket(
            cmulticast_open_one_shot(number, interface.index, wantsTTL255), interface, family, asks: true)
        return (shares + [own]).compactMap(\.self)
    }

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
    func send(_ packet: [UInt8]) {
        unsafe packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafe cmulticast_send(
                descriptor, family == .ipv4 ? AF_INET : AF_INET6, interface.index, start, Int32(clamping: bytes.count))
        }
    }

    /// What has come, each with its source.
    func receive() -> [([UInt8], IPAddress)] {
        var packets: [([UInt8], IPAddress)] = []
        for _ in 0..<Self.mostAtOnce {
            var (bytes, count) = ([UInt8](repeating: 0, count: Self.longest), -1)
            let source = unsafe SocketAddress(filledBy: { address, length in
                count = unsafe recvfrom(
                    descriptor, &bytes, Self.longest, Int32(MSG_DONTWAIT | MSG_TRUNC), address, length)
                return count >= 0
            })
            guard let source else { break }
            guard count <= Self.longest, let address = source.address else { continue }
            packets.append((Array(bytes.prefix(count)), address))
        }
        return packets
    }
}
