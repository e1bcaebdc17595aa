import DNSSD

/// How full avahi-daemon's cache must be, by what was seen: a full one drops what is new without a word.
///
/// `cache-entries-max` is 4096 records for each interface and family (avahi-core/cache.c), and a service on a host of its own takes
/// four: PTR, SRV, TXT and an address. What this machine publishes is not in the cache.
struct CacheGauge {
    /// The default of avahi-daemon, which its configuration may raise; it cannot be asked.
    static let systemEntries = 4_096
    static let recordsOfAService = 4
    /// Told when 95 % of what fits was seen.
    let limit: Int

    struct Place: Hashable, Sendable {
        let index: Int32
        let family: IPAddress.Family
    }

    private struct Key: Hashable {
        let instance: ServiceInstance
        let place: Place
    }

    /// How many queries see it: two may ask for the same.
    private var seen: [Key: Int] = [:]
    private var counts: [Place: Int] = [:]

    init(entries: Int = systemEntries) { limit = entries / Self.recordsOfAService * 95 / 100 }

    func isFull(_ place: Place) -> Bool { counts[place, default: 0] >= limit }

    mutating func appeared(_ instance: ServiceInstance, _ place: Place) {
        let key = Key(instance: instance, place: place)
        seen[key, default: 0] += 1
        if seen[key] == 1 { counts[place, default: 0] += 1 }
    }

    mutating func disappeared(_ instance: ServiceInstance, _ place: Place) {
        let key = Key(instance: instance, place: place)
        guard let number = seen[key] else { return }
        seen[key] = number > 1 ? number - 1 : nil
        guard number == 1, let count = counts[place] else { return }
        counts[place] = count > 1 ? count - 1 : nil
    }
}
