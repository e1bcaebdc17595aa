import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records

/// What DNS servers answer to one query's questions, as a source of records: each is asked again and again.
struct ServerRecords: RecordSource {
    var table: QuestionTable
    /// Spreads the time of questions, 0 to 1.
    var jitter = 0.0
    /// Tells the services of this machine; nil: there are none.
    private let own: OwnServices?

    init(_ table: QuestionTable, own: OwnServices? = nil) { (self.table, self.own) = (table, own) }

    private func polled(_ key: RecordKey) -> PolledQuestion? { table[Question(key)] }

    /// Everything that is asked is for one query.
    func follow(_ name: DomainName) {}
    func unfollow(_ name: DomainName) {}

    mutating func want(_ key: RecordKey, _ urgency: Urgency, from sender: UInt16?, at now: Duration) {
        table.want(Question(key), at: now, jitter: jitter)
    }

    mutating func drop(_ key: RecordKey) {
        table.drop(Question(key))
        if key.type == .srv { table.drop(Question(key.name, .dhcid)) }
    }

    func records(_ key: RecordKey) -> [KnownRecord] { polled(key)?.records.map { KnownRecord($0) } ?? [] }

    /// Who sent a record says nothing of it.
    func record(_ key: RecordKey, _ data: RecordData) -> KnownRecord? { KnownRecord(data) }

    func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData] {
        Array((polled(key)?.records ?? []).lazy.filter(isWanted).prefix(limit))
    }

    func standing(_ key: RecordKey) -> Standing {
        guard let polled = polled(key) else { return .failed }
        switch polled.known {
        case .nothing: return .denied
        case .records, .unknown: return polled.failures > 0 ? .failed : .unknown
        }
    }

    func isNear(_ data: RecordData) -> Bool { false }

    /// Whoever takes a service out of a zone does not put it back at once.
    func isWithdrawn(_ service: DomainName, from hosts: [DomainName], at now: Duration) -> Bool { true }

    /// It matters where a service is said to be at an address of this machine.
    mutating func isOwn(
        _ service: DomainName, _ records: ServiceRecords, in list: RecordKey?, at now: Duration
    ) -> Bool? {
        guard let own, records.addresses.contains(where: { $0.contains(where: own.isAddress) }) else { return false }
        let question = Question(service, .dhcid)
        table.want(question, at: now, jitter: jitter)
        guard let owner = table[question], owner.isSettled else { return nil }
        return own.has(service, owners: owner.records)
    }

    /// Whether DNSSEC vouches for every record that describes the service, and why there is no address.
    func complete(_ resolution: inout Resolution, from records: ServiceRecords) {
        let own = [RecordKey(records.name, .srv), RecordKey(records.name, .txt)].map { table[Question($0)] }
        let hosts = records.targets.map(\.host)
        let addresses = hosts.flatMap { host in records.addressTypes.map { table[Question(host, $0)] } }
            .filter { $0.map { !$0.records.isEmpty } ?? false }
        if (own + addresses).allSatisfy({ $0?.origin.isAuthenticated ?? false }) { resolution.isAuthenticated = true }
        guard resolution.port != nil, resolution.addresses.isEmpty else { return }
        resolution.withheld = withheld(hosts, records.addressTypes)
    }

    /// Returns why none of the hosts has an address, if a resolver seems to withhold them: a host exists, and only the
    /// zone's own server could say that it has no address.
    private func withheld(_ hosts: [DomainName], _ types: [RecordType]) -> String? {
        let host = hosts.first { host in
            types.count == 2
                && types.allSatisfy { type in
                    guard let polled = table[Question(host, type)] else { return false }
                    return polled.known == .nothing(nameExists: true) && !polled.origin.isAuthoritative
                }
        }
        return host.map { host in
            "\(host.presentation) is there, but the resolver tells no address of it: protection against rebinding withholds private ones "
                + "(dnsmasq: rebind-domain-ok; Unbound: private-domain)"
        }
    }

    /// Takes in an answer. What came with it can be read until `forgetAdditionals`.
    /// - Returns: whether the question is still asked, and what went from its records and came.
    mutating func answered(
        _ question: Question, _ reading: AnswerReading, at now: Duration, jitter: Double
    ) -> (polled: PolledQuestion, removed: [RecordData], added: [RecordData])? {
        let old = table[question]?.records ?? []
        table.answered(question, reading, at: now, jitter: jitter)
        self.jitter = jitter
        guard let polled = table[question] else { return nil }
        guard polled.records != old else { return (polled, [], []) }
        let (before, after) = (Set(old), Set(polled.records))
        return (polled, old.filter { !after.contains($0) }, polled.records.filter { !before.contains($0) })
    }
}

extension Question {
    /// - Parameter key: the records asked for.
    init(_ key: RecordKey) { self.init(key.name, key.type) }

    var key: RecordKey { RecordKey(name, type) }
}

/// Tells the services of zones that this machine has published: the digest in their DHCID record is of an id that one of
/// this user's processes keeps.
package final class OwnServices: Sendable {
    /// How long this machine's addresses are believed, so that not every answer asks the system.
    private static let memory = Duration.seconds(5)

    private let directory: String
    private let machine: String?
    private let read: @Sendable () -> LocalAddresses
    private let known = Locked<(addresses: LocalAddresses, at: ContinuousClock.Instant)?>(nil)

    /// - Parameters:
    ///   - directory: where publishers' ids are kept.
    ///   - machine: as of `UnicastPublisher`.
    ///   - addresses: reads this machine's addresses.
    init(
        directory: String, machine: String? = UnicastPublisher.machineID,
        addresses: @escaping @Sendable () -> LocalAddresses = { .system() }
    ) {
        (self.directory, self.machine, read) = (directory, machine, addresses)
    }

    /// Whether an address is this machine's.
    func isAddress(_ address: IPAddress) -> Bool {
        let now = ContinuousClock.now
        let addresses = known.withLock { known in
            if let known, now - known.at < Self.memory { return known.addresses }
            let addresses = read()
            known = (addresses, now)
            return addresses
        }
        return addresses.isOwn(address)
    }

    /// Whether a name belongs to one of this user's publishers on this machine.
    func has(_ name: DomainName, owners: [RecordData]) -> Bool {
        guard !owners.isEmpty else { return false }
        return PublisherIdentity.kept(in: directory).contains { id in
            owners == [(machine.map(id.derived) ?? id).ownership(of: name)]
        }
    }
}
