import DNSSD
import DiscoverySystem

/// One look at all addresses of a host on an interface. Services that ask while it runs share it. Used only on the
/// loop's thread.
///
/// Avahi's resolver reports only the first address. This looks up A and AAAA over both families and frees the lookups
/// as soon as they have answered (`AddressRound`).
final class HostLook {
    struct Key: Hashable {
        let host: HostName
        let interface: NetworkInterface
        let family: IPAddress.Family?
    }

    /// The number of empty rounds after which the host counts as having no address; one packet may be lost.
    private static let maximumRounds = 2
    /// How long a result counts as fresh: the services of one host ask one after the other.
    private static let validity = Duration.milliseconds(500)

    private let key: Key
    private let connection: AvahiConnection
    private let timer: LoopTimer
    private let line: BoundedLine
    private let newRound: () -> AddressRound
    private var round: AddressRound
    private var rounds = 0
    private var lookups: [IPAddress.Family: AvahiLookup] = [:]
    /// Whether the look holds a place in the line.
    private var isUnderWay = false
    /// The result; nil until the look ends.
    private var addresses: [IPAddress]?
    private var waiting: [([IPAddress]) -> Void] = []
    private let outdated: () -> Void

    /// - Parameters:
    ///   - key: the host, the interface and the families.
    ///   - known: addresses that the previous look found.
    ///   - isNew: whether there were few looks so far.
    ///   - line: the line in which the look waits for its turn.
    ///   - connection: the connection to avahi-daemon.
    ///   - outdated: called when the result is too old to share; frees the look.
    init(
        _ key: Key, known: [IPAddress], isNew: Bool, in line: BoundedLine, on connection: AvahiConnection,
        outdated: @escaping () -> Void
    ) {
        self.key = key
        self.connection = connection
        self.line = line
        self.outdated = outdated
        timer = LoopTimer(loop: connection.loop)
        newRound = { AddressRound(key.families, known: known, isNew: isNew, at: .now) }
        round = newRound()
        timer.fire = { [weak self] in self?.timerFired() }
        line.add { [weak self] in
            guard let self, connection.isOpen else { return false }
            isUnderWay = true
            begin()
            return true
        }
    }

    /// Reports the addresses once they are known.
    func whenOver(_ told: @escaping ([IPAddress]) -> Void) {
        if let addresses { told(addresses) } else { waiting.append(told) }
    }

    func free() {
        freeLookups()
        waiting = []
        timer.free()
        leaveLine()
    }

    private func begin() {
        rounds += 1
        round = newRound()
        for family in key.families {
            do throws(DiscoveryError) {
                lookups[family] = try connection.browseAddresses(of: key.host, family, on: key.interface) {
                    [weak self] event in self?.received(event, family)
                }
            } catch {
                round.ended(family)
            }
        }
        timer.deadline = round.nextEnd ?? .now
    }

    /// Sets the timer, which ends lookups and the look: they are freed there, outside their callbacks.
    private func received(_ event: BrowserEvent<[UInt8]>, _ family: IPAddress.Family) {
        guard addresses == nil else { return }
        switch event {
        case .appeared(let bytes, let path):
            if path.isOnLink, let address = address(bytes, family) { round.appeared(address, at: .now) }
        case .disappeared: return
        case .cacheExhausted: round.cacheExhausted(family, at: .now)
        case .allForNow, .failed: round.ended(family)
        }
        timer.deadline = round.expects(family) ? round.nextEnd ?? .now : .now
    }

    private func timerFired() {
        guard addresses == nil else { return outdated() }
        round.endLookups(at: .now)
        for family in lookups.keys where !round.expects(family) { lookups.removeValue(forKey: family)?.free() }
        if let next = round.nextEnd { return timer.deadline = next }
        let found = round.addresses
        if found.isEmpty, rounds < Self.maximumRounds, connection.isOpen {
            return begin()
        }
        addresses = found
        timer.set(after: Self.validity)
        let told = waiting
        waiting = []
        leaveLine()
        for tell in told { tell(found) }
    }

    private func leaveLine() {
        guard isUnderWay else { return }
        isUnderWay = false
        line.finished()
    }

    private func freeLookups() {
        for lookup in lookups.values { lookup.free() }
        lookups = [:]
    }

    private func address(_ bytes: [UInt8], _ family: IPAddress.Family) -> IPAddress? {
        switch family {
        case .ipv4: IPv4Address(bytes: bytes).map { .v4($0) }
        // Avahi's addresses have no scope: the record's interface is the scope.
        case .ipv6: IPv6Address(bytes: bytes).map { .v6($0, scope: $0.isLinkLocal ? key.interface.index : 0) }
        }
    }
}

extension HostLook.Key {
    fileprivate var families: [IPAddress.Family] { family.map { [$0] } ?? IPAddress.Family.allCases }
}
