import CMulticast
import DNSSD
import DiscoverySystem
import Libc

/// A socket of a link, for one family, that receives what came one way. Used only on the loop's thread.
@safe final class LinkSocket {
    let family: IPAddress.Family
    /// Whether questions are sent by it: one socket of each family does.
    let sends: Bool
    private let way: PacketQueue.Way
    private let interface: UInt32
    private let descriptor: Int32
    private var watch: LoopWatch?
    private var drops: UInt32 = 0
    private var isLossy = false

    /// - Parameter share: whose packets it receives.
    /// - Throws: `SocketError` with errno.
    init(
        on interface: UInt32, _ family: IPAddress.Family, _ share: cmulticast_share, wantsTTL255: Bool, loop: EventLoop,
        ready: @escaping () -> Void
    ) throws(SocketError) {
        self.family = family
        self.interface = interface
        sends = share == CMULTICAST_OTHERS || share == CMULTICAST_ALL
        way = share == CMULTICAST_OTHERS ? .others : share == CMULTICAST_ALONE ? .alone : .own
        descriptor = cmulticast_open(family.number, interface, share, wantsTTL255)
        guard descriptor >= 0 else { throw SocketError(code: -descriptor) }
        watch = LoopWatch(loop: loop, descriptor: descriptor) { _ in ready() }
    }

    /// Returns why a socket cannot be created on an interface; nil if it can.
    static func refusal(on interface: UInt32, _ family: IPAddress.Family) -> SocketError? {
        let descriptor = cmulticast_open(family.number, interface, CMULTICAST_OTHERS, false)
        guard descriptor >= 0 else { return SocketError(code: -descriptor) }
        Libc.close(descriptor)
        return nil
    }

    deinit {
        // The watch must end before the descriptor can be reused.
        watch?.free()
        if descriptor >= 0 { Libc.close(descriptor) }
    }

    /// Stops reading; the last reference closes the socket.
    func free() {
        watch?.free()
        watch = nil
    }

    /// Sends a packet to the group.
    /// - Returns: 0 or errno. The system refuses packets while an address is tentative or the link is going away.
    func send(_ packet: [UInt8]) -> Int32 {
        MulticastGroup(family: family, interface: interface).send(packet, by: descriptor)
    }

    /// Reads all available packets into `packets`, up to `limit` bytes in total.
    func receive(into packets: inout PacketQueue, _ buffer: ReceiveBuffer, from link: Link) {
        while packets.size < PacketQueue.limit {
            lookForLosses()
            let count = buffer.receive(descriptor) { bytes, source in
                packets.append(bytes, link, over: family, way, from: source)
            }
            guard count == ReceiveBuffer.slots else { return }
        }
    }

    /// Returns whether the kernel dropped packets that count since the last call, for lack of room.
    func hasLost() -> Bool {
        defer { isLossy = false }
        return isLossy && way != .alone
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

/// The errno with which opening a socket failed.
struct SocketError: Error {
    let code: Int32
    /// Whether another program holds port 5353 and does not share it.
    var isPortTaken: Bool { code == EADDRINUSE }
    /// Whether the link or its address has gone.
    var isOfMissingLink: Bool { code == ENODEV || code == EADDRNOTAVAIL }
}
