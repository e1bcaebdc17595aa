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
    private(set) var sockets: [IPAddress.Family: [LinkSocket]] = [:]
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
            // In the order in which they are read: of what has come meanwhile, an answer to a question is not taken for one that came before it.
            let shares: [LinkSocket.Share] = interface.isLoopback ? [.all] : [.own, .alone, .others]
            sockets[family] = try? shares.map { try LinkSocket(on: interface, family, $0, for: .responder) }
            for socket in sockets[family] ?? [] { socket.watch(by: loop, ready: ready) }
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
            let socket = sockets[packet.family]?.first
            if let host = packet.host {
                socket?.send(packet.bytes, to: host.address, port: host.port)
            } else if socket?.send(packet.bytes) == 0 {
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

extension LinkSocket.Share {
    /// To whom went what it receives.
    var audience: MessageSource.Audience {
        switch self {
        case .own, .others, .all: .group
        case .alone: .groupInOneFrame
        case .direct, .answers, .allAnswers, .host: .machine
        }
    }

    /// Another program of this machine said it, or this one.
    var isOwn: Bool { self == .own || self == .all }
}
