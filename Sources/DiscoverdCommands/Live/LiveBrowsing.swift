#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import PeerIdentity

/// Runs `browse --live`.
struct LiveBrowsing {
    let session: Session
    let subject: Subject
    let detail: ServiceDetail
    let order: ListOrder
    let filter: ServiceFilter

    /// - Throws: `CommandError` with status 64 without a terminal.
    func run(_ streams: [ServiceEvents], resolver: @escaping LiveView.Resolver) async throws -> ExitStatus {
        let terminal = session.terminal
        let ability = Renderer.Ability(hasColour: terminal.hasColour, hasUnicode: terminal.isUTF8)
        guard terminal.movesCursor, let screen = Screen(.screen, ability) else {
            throw CommandError(
                .usage, "--live needs a terminal, as standard input and output, and in the foreground",
                advice: ["Without it, each service that comes, changes or goes is a line."])
        }
        let view = LiveView(
            screen, LiveTable(look, order: order), filter, BackendGate(session), session.stop, resolver: resolver)
        do {
            try await view.run(streams, subject: subject)
        } catch is DiscoveryError where session.stop.cause != nil {
            // The stream ended because the command is ending.
        }
        if let reason = await view.degraded { session.tellDegraded(reason) }
        if await view.isLeft { return .done }
        let status = try await session.status(found: view.hasFound, backend: view.gate)
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
