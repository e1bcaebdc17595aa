import DNSSD

/// All addresses of one host on one interface, as long as someone wants them. Touched by the loop's thread only.
///
/// Avahi's resolver tells the first address it meets. Here A and AAAA are looked up over both families, and followed.
final class HostTracker {
    /// More than this is an attack or a mistake.
    static let maximumAddresses = 32
    /// How long the second family may lag behind the first. RFC 8305 §3 waits 50 ms for AAAA on a LAN; mDNS answers are multicast,
    /// and slower over Wi-Fi.
    private static let grace = Duration.milliseconds(150)
    /// Addresses that change together are told together.
    private static let gathering = Duration.milliseconds(10)

    let key: HostTable.Key
    private var browsers: [any Lookup] = []
    private var unanswered: Set<RecordBrowser.Kind> = []
    private var uncached: Set<RecordBrowser.Kind> = []
    /// Which families' packets carried each address.
    private var seen: [IPAddress: Set<IPAddress.Family>] = [:]
    private var told: [IPAddress]?
    private let timer: LoopTimer
    private var isGraceOver = false
    var leases: [ObjectIdentifier: HostLease] = [:]
    private(set) var isStarted = false
    private var answered: (() -> Void)?

    /// - Parameter answered: called once, when the first address is there or none will come.
    init(_ key: HostTable.Key, loop: AvahiLoop, answered: @escaping () -> Void) {
        self.key = key
        self.answered = answered
        timer = LoopTimer(loop: loop)
    }

    /// What is known, in the order of the addresses' text; nil while a family has not had the time to answer.
    var addresses: [IPAddress]? { told }

    func start(on lookups: LookupLanes) {
        isStarted = true
        timer.fire = { [weak self] in self?.timerFired() }
        for kind in [RecordBrowser.Kind.a, .aaaa] where key.family == nil || kind.family == key.family {
            unanswered.insert(kind)
            uncached.insert(kind)
            do throws(DiscoveryError) {
                browsers.append(
                    try lookups.browser(of: kind, at: key.host, on: key.interface) { [weak self] in
                        self?.received($0, kind)
                    })
            } catch {
                ended(kind)
            }
        }
    }

    private func received(_ event: RecordBrowser.Event, _ kind: RecordBrowser.Kind) {
        switch event {
        case .appeared(let bytes, let path):
            guard let address = address(bytes, kind), seen[address] != nil || seen.count < Self.maximumAddresses else {
                return
            }
            seen[address, default: []].insert(path.family)
            unanswered.remove(kind)
            firstAnswer()
            changed()
        case .disappeared(let bytes, let path):
            guard let address = address(bytes, kind) else { return }
            seen[address]?.remove(path.family)
            if seen[address]?.isEmpty ?? false { seen[address] = nil }
            changed()
        case .cacheExhausted:
            uncached.remove(kind)
            changed()
        case .allForNow, .failed: ended(kind)
        }
    }

    private func firstAnswer() {
        answered?()
        answered = nil
    }

    private func ended(_ kind: RecordBrowser.Kind) {
        unanswered.remove(kind)
        uncached.remove(kind)
        changed()
    }

    private func changed() {
        if told == nil, !unanswered.isEmpty, !isGraceOver {
            if !seen.isEmpty, uncached.isEmpty, timer.deadline == nil { timer.set(after: Self.grace) }
            return
        }
        timer.set(after: told == nil ? .zero : Self.gathering)
    }

    private func timerFired() {
        isGraceOver = true
        let now = seen.keys.sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
        guard now != told else { return }
        told = now
        firstAnswer()
        for lease in Array(leases.values) { lease.changed() }
    }

    private func address(_ bytes: [UInt8], _ kind: RecordBrowser.Kind) -> IPAddress? {
        switch kind {
        case .a: return IPv4Address(bytes: bytes).map { .v4($0) }
        case .aaaa:
            // Avahi's addresses have no scope: it is the interface on which the record was seen.
            return IPv6Address(bytes: bytes).map { .v6($0, scope: $0.isLinkLocal ? key.interface.index : 0) }
        }
    }

    func free() {
        for browser in browsers { browser.free() }
        browsers = []
        timer.free()
    }
}

/// One user of a `HostTracker`.
final class HostLease {
    let tracker: HostTracker
    let changed: () -> Void

    init(tracker: HostTracker, changed: @escaping () -> Void) {
        self.tracker = tracker
        self.changed = changed
    }
}

extension RecordBrowser.Kind {
    var family: IPAddress.Family { self == .a ? .ipv4 : .ipv6 }
}

extension IPAddress {
    /// IPv4 before IPv6, then by number.
    fileprivate var sortKey: [UInt64] {
        switch self {
        case .v4(let address): [0, UInt64(address.bits)]
        case .v6(let address, let scope): [1, address.high, address.low, UInt64(scope)]
        }
    }
}
