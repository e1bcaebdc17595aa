import CLinux
import DNSMessage
import DNSSD
import DiscoverySystem
import Libc
import Responder

/// A socket of the responder: one that hears a share of what is said to the group on a link over one family and speaks there, or one that hears
/// what is said to port 5353 of this machine's addresses. Watched by a loop.
@safe final class ResponderSocket {
    /// What it hears. The kernel tells the shares of a group apart, by frames.
    enum Share {
        /// What this machine's programs say to the group: nobody else can send such.
        case own
        /// What other hosts say to the group in frames to this machine alone.
        case alone
        /// What they say to it in frames to all.
        case others
        /// All that is said to the group of the loopback interface, where there is nobody else.
        case loopback
        /// What is said to this machine's addresses.
        case direct

        /// A link's, in the order in which they are read: of what has come meanwhile, an answer to a question is not taken for one that
        /// came before it.
        static func ofGroup(on link: NetworkInterface) -> [Share] {
            link.isLoopback ? [.loopback] : [.own, .alone, .others]
        }

        fileprivate var ofKernel: cmulticast_share? {
            switch self {
            case .own: CMULTICAST_OWN
            case .alone: CMULTICAST_ALONE
            case .others: CMULTICAST_OTHERS
            case .loopback: CMULTICAST_ALL
            case .direct: nil
            }
        }

        /// To whom that went.
        var audience: MessageSource.Audience {
            switch self {
            case .own, .others, .loopback: .group
            case .alone: .groupInOneFrame
            case .direct: .machine
            }
        }

        /// Another program of this machine said it, or this one.
        var isOwn: Bool { self == .own || self == .loopback }
    }

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
    let share: Share
    private let descriptor: Int32
    private let interface: UInt32
    private var watch: LoopWatch?
    private var buffer = [UInt8](repeating: 0, count: Message.maximumMulticastLength)

    /// - Parameter link: nil for `.direct`, which hears all links.
    /// - Throws: `SocketError` with errno.
    init(
        on link: NetworkInterface?, _ family: IPAddress.Family, _ share: Share, loop: EventLoop,
        ready: @escaping () -> Void
    ) throws(SocketError) {
        (self.family, self.share) = (family, share)
        let index = link?.index ?? 0
        interface = index
        let number = family == .ipv4 ? AF_INET : AF_INET6
        descriptor =
            share.ofKernel.map { cmulticast_open_responder(number, index, $0) } ?? cmulticast_open_direct(number)
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
