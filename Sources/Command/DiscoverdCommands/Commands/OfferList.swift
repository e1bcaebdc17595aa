#if Commands
internal import CommandText
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// `status --services`: what the daemon publishes, and what files of /etc/avahi/services have avahi-daemon publish.
struct OfferList {
    let watches: Bool

    func run(in session: Session) async throws -> ExitStatus {
        if watches { return try await follow(in: session) }
        let files = Self.files(in: session)
        guard session.daemon != nil else {
            try Self.list(files, in: session)
            try session.output.flush()
            throw session.noDaemon
        }
        let all = try await session.registrations().map { ListedOffer.registration($0) }
        if all.isEmpty, !session.json { session.notices.notice("the daemon publishes nothing") }
        try Self.list(all + files, in: session)
        return .done
    }

    private static func list(_ all: [ListedOffer], in session: Session) throws {
        guard session.json else {
            if all.isEmpty { return }
            for line in OfferTable(session.terminal).lines(all) { try session.output.line(line) }
            return
        }
        for offer in all {
            try session.output.json(.publication) { json in
                json.object { $0.members(offer) }
                json.endLine()
            }
        }
    }

    /// What avahi-daemon publishes from its files; reports what is wrong with them.
    private static func files(in session: Session) -> [ListedOffer] {
        let files = AvahiServiceFiles()
        for fault in files.faults { session.notices.notice("left out: \(fault)") }
        return files.services.map { .file($0) }
    }

    private func follow(in session: Session) async throws -> ExitStatus {
        let (terminal, pipe) = (session.terminal.onScreen, session.terminal.asPipe)
        var changes = LineChanges()
        var last: [String: ListedOffer] = [:]
        // They change with the administrator, not with the network: read once.
        let files = Self.files(in: session)
        let watching = Watching(session: session, title: "discoverd status --services") {
            try await session.registrations().map { ListedOffer.registration($0) } + files
        } lines: { all in
            OfferTable(terminal).lines(all)
        } tell: { all in
            guard session.json else {
                return try session.output.changes(changes.changes(to: OfferTable(pipe).lines(all)))
            }
            var gone = last
            for offer in all {
                let before = gone.removeValue(forKey: offer.id)
                last[offer.id] = offer
                if before != offer { try Self.tell(before == nil ? "added" : "updated", offer, in: session) }
            }
            for (id, offer) in gone.sorted(by: { $0.key < $1.key }) {
                last[id] = nil
                try Self.tell("removed", offer, in: session)
            }
        }
        return try await watching.run()
    }

    private static func tell(_ event: String, _ offer: ListedOffer, in session: Session) throws {
        try session.output.json { json in json.line(event) { $0.members(offer) } }
    }
}

/// What is listed: a registration of the daemon, or what a file has avahi-daemon publish.
enum ListedOffer: Hashable {
    case registration(RegistrationStatus)
    case file(AvahiServiceFiles.Service)

    /// What stays the same while it changes.
    var id: String {
        switch self {
        case .registration(let status): status.id
        case .file(let service): "\(service.path) \(service.position)"
        }
    }

    /// State, name, type, port, where it is from; then remarks.
    /// - Parameter isRead: by a person. Programs read the words of version 1 of JSON.
    func record(isRead: Bool) -> Record {
        switch self {
        case .registration(let status): Self.record(status, isRead: isRead)
        case .file(let service): Self.record(service)
        }
    }

    static func record(_ status: RegistrationStatus, isRead: Bool) -> Record {
        let isAddress = status.isAddressRecord
        let remark = status.name == status.wanted ? "" : "wanted \"\(status.wanted)\""
        return Record(
            .init(
                isRead ? status.state.word : status.state.rawValue, 11, status.state == .established ? .green : .yellow),
            .init(status.name, 24),
            .init(safe: isAddress ? status.isAlias ? "alias" : "address" : status.type, 16),
            .init(isAddress ? "" : "\(status.port)", 5),
            .init(isRead ? status.origin.word : status.origin.rawValue, 13),
            .init(isAddress && !status.isAlias ? status.addresses.joined(separator: ",") : remark, 0),
            .init(status.reason ?? status.warning ?? "", 0))
    }

    /// Whether avahi-daemon has published it is not known here.
    private static func record(_ service: AvahiServiceFiles.Service) -> Record {
        Record(
            .init("file", 11), .init(service.offered.name.text, 24), .init(safe: service.offered.type, 16),
            .init("\(service.offered.port)", 5), .init("avahi-daemon", 13), .init("", 0), .init(service.path, 0))
    }
}

/// What is listed, for people: a line each; on a terminal fitted to its width, and a remark that has no room in the line below it.
struct OfferTable {
    private static let columns: [ColumnLayout.Column] = [
        .init("STATE", 9, upTo: 11), .init("NAME", 10, upTo: 40, weight: 4), .init("TYPE", 10, upTo: 22, weight: 2),
        .init("PORT", 5), .init("FROM", 13),
    ]
    private let terminal: Terminal

    init(_ terminal: Terminal) { self.terminal = terminal }

    func lines(_ all: [ListedOffer]) -> [String] {
        guard terminal.isInteractive else { return all.map { $0.record(isRead: false).line(for: terminal) } }
        let layout = ColumnLayout(Self.columns, in: terminal.columns)
        return [layout.header(isUTF8: terminal.isUTF8)] + all.flatMap { lines($0.record(isRead: true).fields, layout) }
    }

    private func lines(_ fields: [Record.Field], _ layout: ColumnLayout) -> [String] {
        let isUTF8 = terminal.isUTF8
        let (own, rest) = (fields.prefix(Self.columns.count), fields.dropFirst(Self.columns.count))
        let remark = rest.map { $0.text.tamed(isUTF8: isUTF8) }.filter { !$0.isEmpty }.joined(separator: "  ")
        var cells = layout.cells(own.map(\.text), isUTF8: isUTF8)
        let width = cells.reduce(0) { $0 + DisplayWidth.of($1) + 1 }
        if let colour = own.first?.colour, let first = cells.first { cells[0] = terminal.paint(first, colour) }
        let line = cells.joined(separator: " ")
        if remark.isEmpty { return [line] }
        if width + DisplayWidth.of(remark) + 2 < terminal.columns { return ["\(line)  \(remark)"] }
        return [line] + remark.wrapped(to: terminal.columns - 5).map { "    " + $0 }
    }
}

extension JSONWriter {
    /// Writes the members of what is listed.
    mutating func members(_ offer: ListedOffer) {
        switch offer {
        case .registration(let status): registrationMembers(status)
        case .file(let service):
            member("name", service.offered.name.text)
            member("type", service.offered.type.description)
            member("domain", service.offered.domain.text)
            member("port", Int(service.offered.port.rawValue))
            if let host = service.offered.host { member("host", host.name.text) }
            member("state", "file")
            member("origin", "avahi-daemon")
            member("path", service.path)
        }
    }
}
#endif
