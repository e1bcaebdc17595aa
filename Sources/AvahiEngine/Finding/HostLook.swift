import DNSSD
import System

/// One look at all addresses of a host on an interface, shared by the services that ask meanwhile. Used only on the loop's thread.
///
/// Avahi's resolver tells the first address it meets. Here A and AAAA are looked up over both families, and let go as soon as they have
/// answered (`AddressRound`).
final class HostLook {
    struct Key: Hashable {
        let host: HostName
        let interface: NetworkInterface
        let family: IPAddress.Family?
    }

    /// After so many empty rounds the host has no address: a packet may have been lost.
    private static let maximumRounds = 2
    /// For so long what was seen is as good as new: services of one host ask one after the other.
    private static let validity = Duration.milliseconds(500)

    private let key: Key
    private let connection: AvahiConnection
    private let timer: LoopTimer
    private let line: BoundedLine
    private let newRound: () -> AddressRound
    private var round: AddressRound
    private var rounds = 0
    private var lookups: [AvahiLookup] = []
    /// It has a place in the line.
    private var isUnderWay = false
    /// Nil until it is over.
    private var addresses: [IPAddress]?
    private var waiting: [([IPAddress]) -> Void] = []
    private let outdated: () -> Void

    /// - Parameters:
    ///   - known: what the look before this one has found.
    ///   - isNew: there were few looks before.
    ///   - line: where it waits for its turn.
    ///   - outdated: called when another look is to take its place.
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

    /// Tells the addresses when they are known.
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
                lookups.append(
                    try connection.browseAddresses(of: key.host, family, on: key.interface) { [weak self] event in
                        self?.received(event, family)
                    })
            } catch {
                round.ended(family)
            }
        }
        timer.deadline = round.end
    }

    /// Lookups are freed by the timer: not within their own callback.
    private func received(_ event: BrowserEvent<[UInt8]>, _ family: IPAddress.Family) {
        guard addresses == nil else { return }
        switch event {
        case .appeared(let bytes, let path):
            if path.isOnLink, let address = address(bytes, family) { round.appeared(address, at: .now) }
        case .disappeared: return
        case .cacheExhausted: round.cacheExhausted(family, at: .now)
        case .allForNow, .failed: round.ended(family)
        }
        timer.deadline = round.end
    }

    private func timerFired() {
        guard addresses == nil else { return outdated() }
        freeLookups()
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
        for lookup in lookups { lookup.free() }
        lookups = []
    }

    private func address(_ bytes: [UInt8], _ family: IPAddress.Family) -> IPAddress? {
        switch family {
        case .ipv4: IPv4Address(bytes: bytes).map { .v4($0) }
        // Avahi's addresses have no scope: it is the interface on which the record was seen.
        case .ipv6: IPv6Address(bytes: bytes).map { .v6($0, scope: $0.isLinkLocal ? key.interface.index : 0) }
        }
    }
}

extension HostLook.Key {
    fileprivate var families: [IPAddress.Family] { family.map { [$0] } ?? IPAddress.Family.allCases }
}
