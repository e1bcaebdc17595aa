import CMulticast
import DNSSD
import Glibc
import System

/// A socket of one link and family for one-shot questions, on a port of its own: what comes to it was asked from there. Touched by the loop's
/// thread only.
@safe final class OneShotSocket {
    /// The longest message (RFC 6762 §17).
    private static let longest = 9000
    /// Datagrams read at once; who sends more waits.
    private static let mostAtOnce = 32

    let family: IPAddress.Family
    private let interface: UInt32
    private let descriptor: Int32
    private var watch: LoopWatch?

    /// Nil when the system gives none.
    init?(
        on interface: UInt32, _ family: IPAddress.Family, wantsTTL255: Bool, loop: EventLoop,
        ready: @escaping () -> Void
    ) {
        self.family = family
        self.interface = interface
        descriptor = cmulticast_open_one_shot(family == .ipv4 ? AF_INET : AF_INET6, interface, wantsTTL255)
        guard descriptor >= 0 else { return nil }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    deinit {
        watch?.free()
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// No more is read; the socket closes with the last reference.
    func free() {
        watch?.free()
        watch = nil
    }

    /// One that is refused is lost: the multicast question goes on.
    func send(_ packet: [UInt8]) {
        unsafe packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafe cmulticast_send(
                descriptor, family == .ipv4 ? AF_INET : AF_INET6, interface, start, Int32(clamping: bytes.count))
        }
    }

    /// Reads what is there, each datagram with its source.
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
