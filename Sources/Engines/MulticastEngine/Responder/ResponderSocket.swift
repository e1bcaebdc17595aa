import CLinux
import DNSMessage
import DNSSD
import DiscoverySystem
import Libc
import Responder

/// A socket of the responder: one that hears all that is said to the group on a link over one family and speaks there, or one that hears
/// what is said to port 5353 of this machine alone. Watched by a loop.
@safe final class ResponderSocket {
    struct Datagram {
        let bytes: [UInt8]
        let source: IPAddress
        let port: UInt16
        /// The index of the interface over which it came; 0 where the system does not say.
        let interface: UInt32
    }

    /// The most datagrams that `receive` reads at once; further ones wait.
    private static let mostAtOnce = 128

    let family: IPAddress.Family
    private let descriptor: Int32
    private let interface: UInt32
    private var watch: LoopWatch?
    private var buffer = [UInt8](repeating: 0, count: Message.maximumMulticastLength)

    /// Of a link, or, without one, of this machine's address.
    /// - Throws: `SocketError` with errno.
    init(
        on link: NetworkInterface?, _ family: IPAddress.Family, loop: EventLoop, ready: @escaping () -> Void
    ) throws(SocketError) {
        self.family = family
        interface = link?.index ?? 0
        let number = family == .ipv4 ? AF_INET : AF_INET6
        descriptor = link.map { cmulticast_open_responder(number, $0.index) } ?? cmulticast_open_direct(number)
        guard descriptor >= 0 else { throw SocketError(code: -descriptor) }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    deinit {
        // The watch must end before the descriptor can be reused.
        watch?.free()
        if descriptor >= 0 { Libc.close(descriptor) }
    }

    /// Stops watching; the last reference closes the socket.
    func free() {
        watch?.free()
        watch = nil
    }

    /// Sends a packet to the group, or to one host.
    /// - Returns: whether the system took it. It refuses what goes to the group while an address is tentative or the link is going away.
    @discardableResult
    func send(_ packet: [UInt8], to host: LinkResponder.Outgoing.Host?) -> Bool {
        let number = family == .ipv4 ? AF_INET : AF_INET6
        guard let host else {
            return unsafe packet.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return true }
                return unsafe cmulticast_send(descriptor, number, interface, start, Int32(clamping: bytes.count)) == 0
            }
        }
        var address = host.address
        if case .v6(let v6, _) = address, v6.isLinkLocal { address = .v6(v6, scope: interface) }
        return unsafe SocketAddress(address, port: host.port).withPointer {
            unsafe sendto(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL), $0, $1) >= 0
        }
    }

    /// Reads what has come. A datagram that is longer than a message may be is left out.
    func receive() -> [Datagram] {
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
            guard count <= buffer.count, let address = source.address, let port = source.port else { continue }
            datagrams.append(
                Datagram(
                    bytes: Array(buffer.prefix(Int(count))), source: address.withoutScope, port: port,
                    interface: interface))
        }
        return datagrams
    }
}
