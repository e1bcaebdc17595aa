public import DNSSD

/// A machine, as far as its address identifies it: one per IPv4 or link-local IPv6 address. Other IPv6 addresses count by /64, because one
/// machine may have any number of them (RFC 8981).
public enum ChatHost: Hashable, Sendable {
    case ipv4(IPv4Address)
    case linkLocal(IPv6Address)
    case network(UInt64)
    /// No address is known.
    case unknown

    /// The machine at an address. An IPv4 address mapped to IPv6 counts as IPv4.
    public init(_ address: IPAddress?) {
        switch address {
        case .v4(let address): self = .ipv4(address)
        case .v6(let address, _):
            if address.isIPv4Mapped, let inner = address.embeddedIPv4 {
                self = .ipv4(inner)
            } else {
                self = address.isLinkLocal ? .linkLocal(address) : .network(address.high)
            }
        case nil: self = .unknown
        }
    }
}

/// Limits the clients, in total and per host. In a full room, a newcomer from a host with few clients replaces one from a host with many,
/// so that no host can lock out others.
public struct Places<ID: Hashable & Sendable>: Sendable {
    /// The answer to a newcomer.
    public enum Answer: Hashable, Sendable {
        case enters
        /// Another client must leave: the newest of the host with the most places.
        case entersInPlaceOf(ID)
        /// The host already has the maximum number of places.
        case hostHasEnough
        case full
    }

    private let limit: Int
    private let perHost: Int
    private var hosts: [ID: ChatHost] = [:]
    /// Oldest first.
    private var clients: [ChatHost: [ID]] = [:]

    /// - Parameters:
    ///   - limit: places in total.
    ///   - perHost: places per host.
    public init(limit: Int, perHost: Int) {
        self.limit = limit
        self.perHost = perHost
    }

    /// Admits a client, if possible.
    public mutating func enter(_ id: ID, from host: ChatHost) -> Answer {
        let own = clients[host]?.count ?? 0
        guard own < perHost else { return .hostHasEnough }
        guard hosts.count >= limit else {
            add(id, host)
            return .enters
        }
        // The evicted host keeps at least as many places as the newcomer's gets, so hosts never evict each other in turn.
        guard let most = clients.values.max(by: { $0.count < $1.count }), most.count >= own + 2, let last = most.last
        else { return .full }
        left(last)
        add(id, host)
        return .entersInPlaceOf(last)
    }

    /// Releases a client's place.
    public mutating func left(_ id: ID) {
        guard let host = hosts.removeValue(forKey: id) else { return }
        clients[host]?.removeAll { $0 == id }
        if clients[host]?.isEmpty == true { clients[host] = nil }
    }

    private mutating func add(_ id: ID, _ host: ChatHost) {
        hosts[id] = host
        clients[host, default: []].append(id)
    }
}
