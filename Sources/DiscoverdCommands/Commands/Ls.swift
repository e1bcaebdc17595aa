#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DiscoveryControl
internal import DiscoveryJSON

/// `discoverd ls`.
struct LsCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "Lists what the daemon publishes.",
        discussion: """
            Each line has the state, the name, the type, the port, where it comes from, and why it is not established.

            Examples:
              discoverd ls
              discoverd ls --json | jq -r .name
              discoverd ls --watch                 a screen that follows
            """
    )

    @Flag(name: .long, help: "Go on: a screen that follows, or without a terminal the lines that come (+) and go (-).")
    var watch = false

    @OptionGroup var common: DaemonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        if watch { return try await follow(in: session) }
        let all = try await session.registrations()
        if all.isEmpty, !session.json { session.notices.notice("the daemon publishes nothing") }
        if !all.isEmpty, !session.json, session.terminal.isInteractive {
            try session.output.line(Self.header.line(for: session.terminal))
        }
        for status in all {
            if session.json {
                try session.output.json { json in
                    json.object { $0.registrationMembers(status) }
                    json.endLine()
                }
            } else {
                try session.output.line(Self.record(status, session.terminal))
            }
        }
        return .done
    }

    private func follow(in session: Session) async throws -> ExitStatus {
        let (terminal, pipe) = (session.terminal.onScreen, session.terminal.asPipe)
        var changes = LineChanges()
        var last: [String: RegistrationStatus] = [:]
        let watching = Watching(session: session, title: "discoverd ls") {
            try await session.registrations()
        } lines: { all in
            [Self.header.line(for: terminal)] + all.map { Self.record($0, terminal) }
        } tell: { all in
            guard session.json else {
                return try session.output.changes(changes.changes(to: all.map { Self.record($0, pipe) }))
            }
            var gone = last
            for status in all {
                let before = gone.removeValue(forKey: status.id)
                last[status.id] = status
                if before != status { try Self.tell(before == nil ? "added" : "updated", status, in: session) }
            }
            for (id, status) in gone.sorted(by: { $0.key < $1.key }) {
                last[id] = nil
                try Self.tell("removed", status, in: session)
            }
        }
        return try await watching.run()
    }

    private static func tell(_ event: String, _ status: RegistrationStatus, in session: Session) throws {
        try session.output.json { json in json.line(event) { $0.registrationMembers(status) } }
    }

    private static var header: Record {
        var record = Record()
        let titles = [("STATE", 11), ("NAME", 24), ("TYPE", 16), ("PORT", 5), ("ORIGIN", 13), ("REMARKS", 0)]
        for (title, width) in titles { record.add(title, width: width) }
        return record
    }

    static func record(_ status: RegistrationStatus, _ terminal: Terminal) -> String {
        var record = Record()
        record.add(status.state.rawValue, width: 11, colour: status.state == .established ? .green : .yellow)
        record.add(status.name, width: 24)
        record.add(safe: status.isAddressRecord ? "address" : status.type, width: 16)
        record.add(status.isAddressRecord ? "" : "\(status.port)", width: 5)
        record.add(status.origin.rawValue, width: 13)
        let remark = status.name == status.wanted ? "" : "wanted \"\(status.wanted)\""
        record.add(status.isAddressRecord ? status.addresses.joined(separator: ",") : remark, width: 0)
        record.add(status.reason ?? status.warning ?? "", width: 0)
        return record.line(for: terminal)
    }
}
#endif
