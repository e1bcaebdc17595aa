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
        if !all.isEmpty, !session.json, session.terminal.isInteractive {
            try session.output.line(ListedOffer.header.line(for: session.terminal))
        }
        for offer in all {
            if session.json {
                try session.output.json { json in
                    json.object { $0.members(offer) }
                    json.endLine()
                }
            } else {
                try session.output.line(offer.record(session.terminal))
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
            [ListedOffer.header.line(for: terminal)] + all.map { $0.record(terminal) }
        } tell: { all in
            guard session.json else {
                return try session.output.changes(changes.changes(to: all.map { $0.record(pipe) }))
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
        case .file(let service): "\(service.path) \(service.offered.instance)"
        }
    }

    static var header: Record {
        Record(
            .init("STATE", 11), .init("NAME", 24), .init("TYPE", 16), .init("PORT", 5), .init("ORIGIN", 13),
            .init("REMARKS", 0))
    }

    func record(_ terminal: Terminal) -> String {
        switch self {
        case .registration(let status): Self.record(status, terminal)
        case .file(let service): Self.record(service, terminal)
        }
    }

    static func record(_ status: RegistrationStatus, _ terminal: Terminal) -> String {
        let isAddress = status.isAddressRecord
        let remark = status.name == status.wanted ? "" : "wanted \"\(status.wanted)\""
        return Record(
            .init(status.state.rawValue, 11, status.state == .established ? .green : .yellow), .init(status.name, 24),
            .init(safe: isAddress ? "address" : status.type, 16), .init(isAddress ? "" : "\(status.port)", 5),
            .init(status.origin.rawValue, 13), .init(isAddress ? status.addresses.joined(separator: ",") : remark, 0),
            .init(status.reason ?? status.warning ?? "", 0)
        ).line(for: terminal)
    }

    /// Whether avahi-daemon has published it is not known here.
    private static func record(_ service: AvahiServiceFiles.Service, _ terminal: Terminal) -> String {
        let record = Record(
            .init("file", 11), .init(service.offered.name.text, 24), .init(safe: service.offered.type, 16),
            .init("\(service.offered.port)", 5), .init("avahi-daemon", 13), .init("", 0), .init(service.path, 0))
        return record.line(for: terminal)
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
