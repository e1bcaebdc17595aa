#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

/// `browse --types`: the service types that are present on the network.
struct TypeListing {
    let follows: Bool
    let timeout: Duration?
    let domain: DomainsOption
    let place: NetworkOptions

    func run(in session: Session) async throws -> ExitStatus {
        let interfaces = try place.interfaces()
        let streams = domain.domains.map { domain in
            session.network.types(TypeQuery(domain: domain, interfaces: interfaces, family: place.family))
        }
        var unsettled = Set(streams.indices)
        var run = ListRun(
            session, follows: follows, timeout: timeout,
            nothing: "no service was found of any type")
        let status = try await MergedEvents(streams).first(unless: session.stop) { index, batch in
            for event in batch {
                if case .settled = event {
                    guard unsettled.remove(index) != nil, unsettled.isEmpty else { continue }
                    if let status = try run.settled() { return status }
                } else {
                    try show(event, of: index, in: &run)
                }
            }
            return nil
        }
        if let status { return status }
        return try await run.status()
    }

    private func show(_ event: ServiceTypeEvent, of stream: Int, in run: inout ListRun) throws {
        let isForPeople = run.session.terminal.isInteractive
        switch event {
        case .found(let type, let domain, let interfaces):
            try run.found(record(type, domain, interfaces, isForPeople: isForPeople)) { json in
                json.member("type", type.description)
                if let known = KnownType.of(type.description) { json.member("title", known.title) }
                json.member("domain", domain.text)
                json.member("interfaces", interfaces.map(\.name))
            }
        case .lost(let type, let domain):
            try run.lost(record(type, domain, [], isForPeople: isForPeople)) { json in
                json.member("type", type.description)
                json.member("domain", domain.text)
            }
        case .backend(let state): try run.observe(state, of: domain.domains[stream], stream: stream)
        case .degraded(let reason): try run.degraded(reason)
        case .settled: break
        }
    }

    private func record(
        _ type: ServiceType, _ domain: Domain, _ interfaces: [NetworkInterface], isForPeople: Bool
    ) -> Record {
        let names = interfaces.map(\.name).joined(separator: ",")
        var record = Record(.init(safe: type, 24), .init(safe: domain, 5), .init(names, isForPeople ? 8 : 0))
        // A pipe keeps its columns.
        if isForPeople { record.fields.append(.init(KnownType.of(type.description)?.title ?? "", 0)) }
        return record
    }
}
#endif
