import DNSSD

/// This process' own packets to the group, which each of its sockets there hears once: what is told from what other programs of this machine say.
struct Echoes {
    private struct Key: Hashable {
        let link: NetworkInterface
        let family: IPAddress.Family
        let hash: Int
    }

    /// How long an echo may take, and how many are awaited: a socket whose buffer was full has none.
    private static let patience = Duration.seconds(5)
    private static let most = 8192

    private var awaited: [Key: Int] = [:]
    private var order: [(key: Key, at: Duration)] = []
    private var first = 0

    mutating func sent(_ packet: [UInt8], on link: NetworkInterface, over family: IPAddress.Family, at now: Duration) {
        while first < order.count, order.count - first >= Self.most || now - order[first].at > Self.patience {
            _ = took(order[first].key)
            first += 1
        }
        if first > 1024 {
            order.removeFirst(first)
            first = 0
        }
        let key = Key(link: link, family: family, hash: packet.hashValue)
        awaited[key, default: 0] += 1
        order.append((key, now))
    }

    /// Whether a packet is such an echo; each counts once.
    mutating func take(_ packet: [UInt8], on link: NetworkInterface, over family: IPAddress.Family) -> Bool {
        took(Key(link: link, family: family, hash: packet.hashValue))
    }

    private mutating func took(_ key: Key) -> Bool {
        guard let count = awaited[key] else { return false }
        awaited[key] = count > 1 ? count - 1 : nil
        return true
    }
}
