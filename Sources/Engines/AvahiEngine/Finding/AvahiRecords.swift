import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records

/// What avahi-daemon knows on one interface, as a source of records for one query: a list, which its owner's browser fills, and names that
/// are looked at. Used only on the loop's thread.
final class AvahiRecords: RecordSource {
    /// Where names are looked up.
    struct Path {
        let interface: NetworkInterface
        /// The families to ask over.
        let families: [IPAddress.Family]
    }

    private struct Place: Hashable {
        let name: DomainName
        let subject: WatchedName.Subject

        init(_ key: RecordKey) {
            name = key.name
            subject = key.type == .a || key.type == .aaaa ? .host : .service
        }
    }

    /// The most names kept of a list: more than a graph keeps.
    private static let mostListed = 32_768

    let path: Path
    private let connection: AvahiConnection
    private let lines: LookLines
    private let changed: ([RecordKey]) -> Void
    /// The names of the list, and over which families each was seen.
    private var list: [DomainName: [IPAddress.Family: AvahiPath]] = [:]
    /// The family over which a name was last seen that is gone.
    private var lost: IPAddress.Family?
    private var names: [Place: WatchedName] = [:]
    /// Names that are to be looked at for the first time.
    private var fresh: [WatchedName] = []

    /// - Parameter changed: receives the keys of which something else is known, on the loop's thread, and never within a call.
    init(
        on path: Path, _ connection: AvahiConnection, _ lines: LookLines, changed: @escaping ([RecordKey]) -> Void
    ) {
        (self.path, self.connection, self.lines, self.changed) = (path, connection, lines, changed)
    }

    // MARK: The list

    var isListEmpty: Bool { list.isEmpty }
    /// Each name of the list once for each family over which it was seen.
    var sights: [(name: DomainName, path: AvahiPath)] {
        list.flatMap { name, paths in paths.values.map { (name, $0) } }
    }

    /// The browser sees a name.
    /// - Returns: whether it was not seen over the other family; nil if nothing is new, or no more are kept.
    func listed(_ name: DomainName, _ path: AvahiPath) -> Bool? {
        guard list[name]?[path.family] == nil else { return nil }
        guard list[name] != nil || list.count < Self.mostListed else { return nil }
        list[name, default: [:]][path.family] = path
        return list[name]?.count == 1
    }

    /// The browser does not see a name any more.
    /// - Returns: how it was seen, and whether it is not over the other family either; nil if it was not.
    func delisted(_ name: DomainName, _ family: IPAddress.Family) -> (path: AvahiPath, isLast: Bool)? {
        guard let path = list[name]?.removeValue(forKey: family) else { return nil }
        guard list[name]?.isEmpty == true else { return (path, false) }
        list[name] = nil
        lost = family
        return (path, true)
    }

    // MARK: Looks

    /// Looks at the names that have come to be wanted.
    func lookAtFresh() {
        let names = fresh
        fresh = []
        for name in names { name.submit() }
    }

    /// The links or addresses of this machine have changed, and so may have those of any host: looks at all names again soon.
    /// - Parameter pace: the time between two of them.
    func lookAgain(_ pace: Duration) {
        for (number, name) in names.values.enumerated() { name.lookAgain(within: pace * number) }
    }

    /// Wants nothing any more.
    func cancel() {
        fresh = []
        let all = Array(names.values)
        names = [:]
        // Those that wait first, so that none of them begins in another's place.
        for name in all where !name.isLooking { name.cancel() }
        for name in all { name.cancel() }
    }

    func follow(_ name: DomainName) {}
    func unfollow(_ name: DomainName) {}

    func want(_ key: RecordKey, _ urgency: Urgency, from sender: UInt16?, at now: Duration) {
        guard urgency != .list else { return }
        let place = Place(key)
        if let name = names[place] { return name.want(key.type) }
        let isUrgent = if case .awaited = urgency { true } else { false }
        let name = WatchedName(
            key.name, place.subject, isUrgent: isUrgent, on: path.interface,
            over: { [weak self] in self?.families(of: key.name) ?? [] }, connection, lines,
            changed: { [weak self] in self?.found($0) })
        name.want(key.type)
        names[place] = name
        fresh.append(name)
    }

    func drop(_ key: RecordKey) {
        let place = Place(key)
        guard let name = names[place], name.drop(key.type) else { return }
        names[place] = nil
        name.cancel()
    }

    private func found(_ keys: [RecordKey]) {
        for key in keys where key.type == .srv {
            for record in records(key) {
                // It may have been silent for as long as its host was.
                guard case .srv(_, _, _, let target) = record.data, let host = names[Place(RecordKey(target, .a))],
                    host.isSilent
                else { continue }
                host.lookAgain(within: .zero)
            }
        }
        changed(keys)
    }

    /// The families over which a service can be asked: those over which it was seen; all that are wanted, where it is on no list.
    private func families(of service: DomainName) -> [IPAddress.Family] {
        list[service].map { IPAddress.Family.allCases.filter($0.keys.contains) } ?? path.families
    }

    // MARK: What is known

    func records(_ key: RecordKey) -> [KnownRecord] {
        if let name = names[Place(key)] { return name.records[key.type] ?? [] }
        return key.type == .ptr ? list.map { known($0, $1) } : []
    }

    func record(_ key: RecordKey, _ data: RecordData) -> KnownRecord? {
        guard case .ptr(let name) = data else { return records(key).first { $0.data == data } }
        return list[name].map { known(name, $0) }
    }

    func data(_ key: RecordKey, atMost limit: Int, where isWanted: (RecordData) -> Bool) -> [RecordData] {
        Array(list.keys.lazy.map { .ptr($0) }.filter(isWanted).prefix(limit))
    }

    func standing(_ key: RecordKey) -> Standing { names[Place(key)]?.standing(key.type) ?? .unknown }

    func isNear(_ data: RecordData) -> Bool { false }

    func isWithdrawn(_ service: DomainName, from hosts: [DomainName], at now: Duration) -> Bool { false }

    var isHidden: Bool {
        let families = lost.map { [$0] } ?? path.families
        return !families.contains { SystemInterfaces.isReceiving(path.interface, over: $0) }
    }

    func isOwn(_ service: DomainName, _ records: ServiceRecords, in list: RecordKey?, at now: Duration) -> Bool? {
        list.map { record($0, .ptr(service))?.isOwn ?? false }
            ?? self.records(RecordKey(service, .srv)).contains(where: \.isOwn)
    }

    func complete(_ resolution: inout Resolution, from records: ServiceRecords) {}

    private func known(_ name: DomainName, _ paths: [IPAddress.Family: AvahiPath]) -> KnownRecord {
        KnownRecord(
            .ptr(name), isOwn: path.interface.isLoopback || paths.values.contains(where: \.isLocal))
    }
}
