public import DNSSD

/// A machine, as far as its address tells: IPv4 and link-local IPv6 addresses are one each; of other IPv6 addresses a /64, of which
/// one machine may have as many as it likes (RFC 8981).
public enum ChatHost: Hashable, Sendable {
    case ipv4(IPv4Address)
    case linkLocal(IPv6Address)
    case network(UInt64)
    /// It has no address.
    case unknown

    /// The machine at an address; an IPv4 address that came over an IPv6 socket is one.
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

/// Who may come in: so many in all, so many of one host; and in a full room a host that has few takes the place of one that has
/// many, so that no one host can keep others out.
public struct Places<ID: Hashable & Sendable>: Sendable {
    /// What becomes of someone who comes.
    public enum Answer: Hashable, Sendable {
        case enters
        /// Another has to go: the newest of the host with the most places.
        case entersInPlaceOf(ID)
        /// The host has as many places as one may have.
        case hostHasEnough
        case full
    }

    private let limit: Int
    private let perHost: Int
    private var hosts: [ID: ChatHost] = [:]
    /// The oldest first.
    private var clients: [ChatHost: [ID]] = [:]

    /// - Parameters:
    ///   - limit: places in all.
    ///   - perHost: places of one host.
    public init(limit: Int, perHost: Int) {
        self.limit = limit
        self.perHost = perHost
    }

    /// Someone comes.
    public mutating func enter(_ id: ID, from host: ChatHost) -> Answer {
        let own = clients[host]?.count ?? 0
        guard own < perHost else { return .hostHasEnough }
        guard hosts.count >= limit else {
            add(id, host)
            return .enters
        }
        // As many as its own after that, or more: never in turn.
        guard let most = clients.values.max(by: { $0.count < $1.count }), most.count >= own + 2, let last = most.last
        else { return .full }
        left(last)
        add(id, host)
        return .entersInPlaceOf(last)
    }

    /// Someone goes.
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
