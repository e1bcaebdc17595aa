#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import PeerIdentity

/// Runs `browse --live`: the table is its sink.
struct LiveBrowsing {
    let session: Session
    let query: BrowseQuery
    let detail: ServiceDetail
    let order: ListOrder

    private var subject: Subject { query.subject }

    /// - Throws: `CommandError` with status 64 without a terminal.
    func run() async throws -> ExitStatus {
        let terminal = session.terminal
        let ability = Renderer.Ability(hasColour: terminal.hasColour, hasUnicode: terminal.isUTF8)
        guard terminal.movesCursor, let screen = Screen(.screen, ability) else {
            throw CommandError(
                .usage, "--live needs a terminal, as standard input and output, and in the foreground",
                advice: ["Without it, each service that comes, changes or goes is a line."])
        }
        let (network, interfaces, family) = (session.network, query.interfaces, query.family)
        let view = LiveView(screen, LiveTable(look, order: order), session.stop) { instance in
            try await network.resolve(instance, on: interfaces, over: family, within: .seconds(5))
        }
        let end = try await view.run(Browsing(query, in: session))
        if let reason = await view.degraded { session.tellDegraded(reason) }
        guard let end else { return .done }
        let status = try await end.status(found: view.hasFound, in: session)
        if status == .notFound { session.notices.notice(subject.isNotFound) }
        return status
    }

    private var look: LiveTable.Look {
        let detail = detail
        let keys = KeyStates(session.more?.hmac)
        let showsKeys = detail == .full && !keys.isEmpty
        let types = subject.types.isEmpty ? "every type" : subject.types.map(\.description).joined(separator: ", ")
        let domains =
            subject.domains == [.local] ? "" : " in " + subject.domains.map(\.description).joined(separator: ", ")
        let columns = ServiceColumns(
            detail, tellsEvents: true, hasType: subject.types.count != 1, hasDomain: !domains.isEmpty,
            showsKeys: showsKeys)
        return LiveTable.Look(
            title: types + domains,
            columns: columns.all,
            fields: { service in
                service.textFields(detail) + (showsKeys ? [keys.state(of: service.instance)?.rawValue ?? ""] : [])
            },
            details: { ServiceCard($0, key: keys.state(of: $0.instance)).lines },
            isUTF8: session.terminal.isUTF8)
    }
}
#endif
