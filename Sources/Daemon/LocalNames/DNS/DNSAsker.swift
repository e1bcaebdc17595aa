internal import DNSMessage
package import DNSSD
package import MulticastEngine

/// Who asks over IP, of those who may: who is in the network of the address that is asked.
package enum DNSAsker: Hashable, Sendable {
    case thisMachine
    /// With the interface by which it is reached.
    case neighbour(IPAddress, NetworkInterface)

    /// On whose account links are asked.
    package var account: DeskAsker {
        switch self {
        case .thisMachine: .machine
        case .neighbour(let address, _): .neighbour(address.network)
        }
    }

    /// Whether a record is of use: a link-local address needs the link's name beside it, which DNS has no place for; one of IPv4 leads this
    /// machine there. Nobody on a link has this machine's loopback addresses, and a name of another domain is no host of a link.
    func canUse(_ item: DeskRecord) -> Bool {
        if case .ptr(let target) = item.record.data, item.record.name.isReverse { return target.isHostOfLink }
        guard let address = IPAddress(item.record.data, scope: 0) else { return true }
        if address.isLinkLocal { return address.family == .ipv4 && self == .thisMachine && item.isNear }
        return !address.isLoopback && !address.isUnspecified && !address.isMulticast && !address.isIPv4Mapped
    }
}

/// How much those may have who ask over IP: queries that wait, and long answers in datagrams, whose source nothing proves.
package struct DNSBudgets: Sendable {
    /// Queries that wait for the links: each asker's, and those of all neighbours together, so that this machine always has room.
    package static let (mostOfOne, mostOfNeighbours) = (128, 384)
    /// Longer answers than the question, at once and a second; further ones are asked for over TCP.
    static let datagrams = 500.0

    private var open: [DNSAsker: Int] = [:]
    private var neighbours = 0
    private var long = QuestionBudgets(burst: Self.datagrams, perSecond: Self.datagrams)

    package init() {}

    /// A query begins to wait; false where it may not.
    package mutating func begin(_ asker: DNSAsker) -> Bool {
        let isNeighbour = asker != .thisMachine
        guard !isNeighbour || neighbours < Self.mostOfNeighbours, open[asker, default: 0] < Self.mostOfOne else {
            return false
        }
        open[asker, default: 0] += 1
        neighbours += isNeighbour ? 1 : 0
        return true
    }

    package mutating func end(_ asker: DNSAsker) {
        guard let number = open[asker] else { return }
        open[asker] = number > 1 ? number - 1 : nil
        neighbours -= asker != .thisMachine ? 1 : 0
    }

    /// Whether a datagram may have a longer answer. This machine's own programs harm themselves alone.
    package mutating func mayBeLong(for asker: DNSAsker, at now: Duration) -> Bool {
        asker == .thisMachine || long.take(for: asker.account, at: now)
    }
}
