import CLinux
import DNSSD
import Discovery
import DiscoverySystem
import Responder

/// A link with its sockets and what is said there. Used only on the loop's thread.
final class ResponderLink {
    /// What is assumed where the system does not tell.
    private static let usualMTU = 1500

    let interface: NetworkInterface
    var responder: LinkResponder
    /// Of each family those of all shares, or none.
    private(set) var sockets: [IPAddress.Family: [ResponderSocket]] = [:]
    /// This machine's addresses on the link.
    private(set) var addresses: [IPAddress] = []
    private var blocks: [CIDR] = []
    private var isRunning = true
    /// The families over which the system refused something to the group since the last look.
    private var refused: Set<IPAddress.Family> = []

    init(_ interface: NetworkInterface) {
        self.interface = interface
        responder = LinkResponder(mtu: Self.mtu(of: interface))
    }

    private static func mtu(of interface: NetworkInterface) -> Int {
        let mtu = unsafe Int(clinux_mtu(interface.name))
        return mtu > 0 ? mtu : usualMTU
    }

    var key: LinkKey { LinkKey(interface: interface, families: Set(sockets.keys)) }

    /// Opens sockets of new families and closes those that are gone.
    /// - Returns: whether its carrier has come back.
    func use(
        _ blocks: [AddressBlock], families: [IPAddress.Family], isRunning: Bool, loop: EventLoop, at now: Duration,
        ready: @escaping () -> Void
    ) -> Bool {
        addresses = blocks.map(\.address)
        self.blocks = blocks.map(\.block)
        responder.limit = LinkResponder.limit(Self.mtu(of: interface))
        for (family, all) in sockets where !families.contains(family) {
            for socket in all { socket.free() }
            sockets[family] = nil
        }
        for family in families where sockets[family] == nil {
            sockets[family] = try? ResponderSocket.Share.ofGroup(on: interface).map { share in
                try ResponderSocket(on: interface, family, share, loop: loop, ready: ready)
            }
        }
        responder.use(Set(sockets.keys), at: now)
        defer { self.isRunning = isRunning }
        return isRunning && !self.isRunning
    }

    /// Whether an address certainly belongs to the link.
    func isOfNeighbour(_ address: IPAddress) -> Bool {
        interface.isLoopback || address.isLinkLocal || blocks.contains { $0.contains(address) }
    }

    /// Sends what is due.
    func send(_ echoes: inout Echoes, at now: Duration) {
        for packet in responder.packets(at: now) {
            let isSent = sockets[packet.family]?.first?.send(packet.bytes, to: packet.host) ?? false
            guard packet.host == nil else { continue }
            if isSent {
                echoes.sent(packet.bytes, on: interface, over: packet.family, at: now)
            } else {
                refused.insert(packet.family)
            }
        }
    }

    /// Says again what the system refused, after something has changed: all of it if nobody has heard a probe, or the announcements.
    func repeatRefused(at now: Duration) {
        guard !refused.isEmpty else { return }
        if refused.isSuperset(of: sockets.keys) { responder.restart(at: now) } else { responder.announceAgain(at: now) }
        refused = []
    }

    func close() {
        for socket in sockets.values.joined() { socket.free() }
        sockets = [:]
    }
}
