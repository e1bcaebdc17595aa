import CMulticast
import DNSSD
import Glibc
import System

/// One socket of a link: of one family, for what others say or for what this machine says itself. Touched by the loop's thread only.
@safe final class LinkSocket {
    let family: IPAddress.Family
    let isOwn: Bool
    private let interface: UInt32
    private let descriptor: Int32
    private var watch: LoopWatch?
    private var drops: UInt32 = 0
    private var isLossy = false

    /// - Parameter share: whose datagrams.
    /// - Throws: `SocketError` with errno.
    init(
        on interface: UInt32, _ family: IPAddress.Family, _ share: cmulticast_share, wantsTTL255: Bool, loop: EventLoop,
        ready: @escaping () -> Void
    ) throws(SocketError) {
        self.family = family
        self.interface = interface
        isOwn = share != CMULTICAST_OTHERS
        descriptor = cmulticast_open(Self.number(of: family), interface, share, wantsTTL255)
        guard descriptor >= 0 else { throw SocketError(code: -descriptor) }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    /// Why no socket can be had there; nil when one can.
    static func refusal(on interface: UInt32, _ family: IPAddress.Family) -> SocketError? {
        let descriptor = cmulticast_open(number(of: family), interface, CMULTICAST_OTHERS, false)
        guard descriptor >= 0 else { return SocketError(code: -descriptor) }
        Glibc.close(descriptor)
        return nil
    }

    deinit {
        // Before its descriptor is anybody else's.
        watch?.free()
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// No more is read; the socket closes with the last reference.
    func free() {
        watch?.free()
        watch = nil
    }

    /// - Returns: 0, or errno: the system refuses a packet while an address is still tentative, or the link is going.
    func send(_ packet: [UInt8]) -> Int32 {
        unsafe packet.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            return unsafe -cmulticast_send(
                descriptor, Self.number(of: family), interface, start, Int32(clamping: bytes.count))
        }
    }

    /// Reads everything that is there into `packets`, until they are `limit` bytes in all.
    func receive(into packets: inout PacketQueue, _ buffer: ReceiveBuffer, from link: Link) {
        lookForLosses()
        while packets.size < PacketQueue.limit {
            let count = buffer.receive(descriptor) { packets.append($0, link, over: family, isOwn: isOwn) }
            guard count == ReceiveBuffer.slots else { return }
        }
    }

    /// Whether datagrams were dropped here since the last call, for want of room.
    func hasLost() -> Bool {
        defer { isLossy = false }
        return isLossy
    }

    /// The kernel's figure counts what the filter refuses, too: it means a loss only where the queue is nearly full.
    private func lookForLosses() {
        var now: UInt32 = 0
        let isCrowded = unsafe cmulticast_is_crowded(descriptor, &now)
        if isCrowded, now != drops { isLossy = true }
        drops = now
    }

    private static func number(of family: IPAddress.Family) -> Int32 { family == .ipv4 ? AF_INET : AF_INET6 }
}

/// Why there is no socket.
struct SocketError: Error {
    let code: Int32
    /// Another program holds port 5353, and does not share it.
    var isPortTaken: Bool { code == EADDRINUSE }
    /// The link, or its address, went meanwhile.
    var isOfMissingLink: Bool { code == ENODEV || code == EADDRNOTAVAIL }
}
