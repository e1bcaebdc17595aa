import DNSSD
import System

/// All addresses of one host on one interface, looked at again and again while someone wants them. Touched by the loop's thread only.
///
/// Avahi's resolver tells the first address it meets. Here A and AAAA are looked up over both families. Nothing is held open
/// between two looks (`AddressRound`).
final class HostTracker {
    /// After so many empty looks in a row the host has no address.
    private static let maximumEmptyRounds = 2
    /// For so many looks an answer may have been lost that is still to come.
    private static let newRounds = 3

    let key: HostTable.Key
    private var browsers: [RecordBrowser.Kind: any Lookup] = [:]
    private var round: AddressRound?
    private var rounds = 0
    private var emptyRounds = 0
    private var told: [IPAddress]?
    private var toldAt: MonotonicTime?
    private let timer: LoopTimer
    var leases: [ObjectIdentifier: HostLease] = [:]
    /// It waits for its turn to look.
    var isQueued = false
    private var ended: () -> Void

    /// - Parameter ended: called at the end of each look.
    init(_ key: HostTable.Key, loop: EventLoop, ended: @escaping () -> Void) {
        self.key = key
        self.ended = ended
        timer = LoopTimer(loop: loop)
    }

    /// What was seen at the last look, in the order of the addresses' text; nil before there was one.
    var addresses: [IPAddress]? { told }

    var isLooking: Bool { round != nil }

    /// Whether the last look was over no longer ago than this.
    func hasLooked(within time: Duration) -> Bool { toldAt.map { MonotonicTime.now < $0 + time } ?? false }

    func look(on lookups: LookupLanes) {
        guard round == nil else { return }
        timer.fire = { [weak self] in self?.timerFired(lookups) }
        begin(on: lookups)
    }

    private func begin(on lookups: LookupLanes) {
        let kinds = [RecordBrowser.Kind.a, .aaaa].filter { key.family == nil || $0.family == key.family }
        round = AddressRound(kinds, known: told ?? [], isNew: rounds < Self.newRounds, at: .now)
        rounds = min(rounds + 1, Self.newRounds)
        for kind in kinds {
            do throws(DiscoveryError) {
                browsers[kind] = try lookups.browser(of: kind, at: key.host, on: key.interface) { [weak self] in
                    self?.received($0, kind)
                }
            } catch {
                round?.ended(kind)
            }
        }
        wait()
    }

    private func received(_ event: RecordBrowser.Event, _ kind: RecordBrowser.Kind) {
        switch event {
        case .appeared(let bytes, let path):
            guard let address = address(bytes, kind) else { return }
            round?.appeared(address, kind, over: path.family, at: .now)
        case .disappeared(let bytes, let path):
            guard let address = address(bytes, kind) else { return }
            round?.disappeared(address, over: path.family)
        case .cacheExhausted: round?.cacheExhausted(kind, at: .now)
        case .allForNow, .failed: round?.ended(kind)
        }
        wait()
    }

    /// Lookups are freed by the timer: not within their own callback.
    private func wait() {
        guard let round else { return }
        timer.deadline = browsers.keys.map { round.end(of: $0) }.min() ?? .now
    }

    private func timerFired(_ lookups: LookupLanes) {
        guard let round else { return }
        let now = MonotonicTime.now
        for kind in browsers.keys where round.end(of: kind) <= now { browsers.removeValue(forKey: kind)?.free() }
        guard browsers.isEmpty else { return wait() }
        self.round = nil
        emptyRounds = round.isEmpty ? emptyRounds + 1 : 0
        // A packet may have been lost.
        if round.isEmpty, emptyRounds < Self.maximumEmptyRounds, lookups.isConnected { return begin(on: lookups) }
        emptyRounds = 0
        toldAt = now
        let isNews = told != round.addresses
        told = round.addresses
        ended()
        guard isNews else { return }
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

    private func freeBrowsers() {
        for browser in browsers.values { browser.free() }
        browsers = [:]
    }

    func free() {
        freeBrowsers()
        round = nil
        ended = {}
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
