package import DNSSD

/// Connections that have not proven who they are, in a room of their own: where it is full, one of the greediest address gives way to a newcomer, so
/// that no number of them keeps another one out. A value.
///
/// The greediest is the network with the most, then the address in it with the most: a host has as many IPv6 addresses as it likes. Of its
/// connections those go first that have come least far, and of these the oldest.
package struct Newcomers: Sendable {
    private struct Guest {
        let id: UInt64
        let address: IPAddress?
        let network: IPAddress?
        var steps = 0
    }

    private let limit: Int
    /// Oldest first.
    private var guests: [Guest] = []
    private var next: UInt64 = 0
    private var networks: [IPAddress?: Int] = [:]
    private var addresses: [IPAddress?: Int] = [:]

    package init(limit: Int) { self.limit = limit }

    package var count: Int { guests.count }

    /// One came; it is in until `left`.
    /// - Parameter address: nil where it is gone already, or has none.
    /// - Returns: its number, and the one that has left for it.
    package mutating func came(from address: IPAddress?) -> (id: UInt64, displaced: UInt64?) {
        let address = address?.unmapped
        let guest = Guest(id: next, address: address, network: address?.network)
        next += 1
        networks[guest.network, default: 0] += 1
        addresses[guest.address, default: 0] += 1
        var displaced: UInt64?
        if guests.count >= limit, let index = victim { displaced = remove(at: index).id }
        guests.append(guest)
        return (guest.id, displaced)
    }

    /// It has come one step further, as by a whole message or a certificate, though nothing is proven yet.
    package mutating func advanced(_ id: UInt64) {
        if let index = guests.firstIndex(where: { $0.id == id }) { guests[index].steps += 1 }
    }

    /// It has proven who it is, or is gone.
    package mutating func left(_ id: UInt64) {
        if let index = guests.firstIndex(where: { $0.id == id }) { _ = remove(at: index) }
    }

    private var victim: Int? {
        guests.indices.min { one, other in
            let rank = { (index: Int) in
                let guest = guests[index]
                return (-(networks[guest.network] ?? 0), -(addresses[guest.address] ?? 0), guest.steps, index)
            }
            return rank(one) < rank(other)
        }
    }

    private mutating func remove(at index: Int) -> Guest {
        let guest = guests.remove(at: index)
        Self.take(guest.network, from: &networks)
        Self.take(guest.address, from: &addresses)
        return guest
    }

    private static func take(_ key: IPAddress?, from counts: inout [IPAddress?: Int]) {
        let left = (counts[key] ?? 0) - 1
        counts[key] = left > 0 ? left : nil
    }
}
