import CMulticast
import DNSSD
import DiscoverySystem
import Libc

/// A socket of one link and family for one-shot questions, on a port of its own, which receives only their answers.
/// Used only on the loop's thread.
@safe final class OneShotSocket {
    /// The longest message in bytes (RFC 6762 §17).
    private static let longest = 9000
    /// The most datagrams that are read at once; further ones wait.
    private static let mostAtOnce = 32

    let family: IPAddress.Family
    private let interface: UInt32
    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Opens a socket; nil if the system refuses.
    init?(
        on interface: UInt32, _ family: IPAddress.Family, wantsTTL255: Bool, loop: EventLoop,
        ready: @escaping () -> Void
    ) {
        self.family = family
        self.interface = interface
        descriptor = cmulticast_open_one_shot(family.number, interface, wantsTTL255)
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { Libc.close(descriptor) }
    }

    /// Stops reading; the last reference closes the socket.
    func free() {
        watch?.free()
        watch = nil
    }

    /// Sends a packet to the group. If the system refuses it, only the multicast question remains.
    func send(_ packet: [UInt8]) {
        _ = MulticastGroup(family: family, interface: interface).send(packet, by: descriptor)
    }

    /// Reads available datagrams, up to 32, each with its source.
    func receive(_ body: ([UInt8], IPAddress) -> Void) {
        for _ in 0..<Self.mostAtOnce {
            var (bytes, count) = ([UInt8](repeating: 0, count: Self.longest), -1)
            let source = unsafe SocketAddress(filledBy: { address, length in
                count = unsafe recvfrom(
                    descriptor, &bytes, Self.longest, Int32(MSG_DONTWAIT | MSG_TRUNC), address,
                    length)
                return count >= 0
            })
            guard let source else { return }
            guard count <= Self.longest, let address = source.address else { continue }
            body(Array(bytes.prefix(count)), address)
        }
    }
}
