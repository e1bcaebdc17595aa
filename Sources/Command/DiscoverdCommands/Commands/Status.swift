#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

struct StatusCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how the daemon is, or with --services everything that is published from here.",
        discussion: """
            It says what finds and publishes, what it keeps warm, how many services it publishes, and each that is not well. The status is 0 \
            when all is well, 1 when the daemon is degraded, 69 when there is none.

            With --services each line has the state, the name, the type, the port, where it comes from, and why it is not established. What is of \
            avahi-daemon is in a file of /etc/avahi/services, which is named: 'discoverd setup avahi' makes it the daemon's. Without a daemon these \
            are listed alone, and the status is 69.

            Examples:
              discoverd status
              discoverd status --services
              discoverd status --services --json | jq -r .name
              discoverd status --services --watch      a screen that follows
            """)

    @Flag(name: .long, help: "List what the daemon publishes, and what files have avahi-daemon publish.")
    var services = false

    @Flag(name: .long, help: "Go on: a screen that follows, or without a terminal the lines that come (+) and go (-).")
    var watch = false

    @OptionGroup var common: DaemonOptions

    func needs() -> CommandNeeds { services ? CommandNeeds(daemon: .wanted) : .daemon }

    func execute(in session: Session) async throws -> ExitStatus {
        if services { return try await OfferList(watches: watch).run(in: session) }
        if watch { return try await follow(in: session) }
        let status = try await session.ask("/v1/status")
        if session.json {
            try Self.printJSON(status, session)
        } else {
            for line in StatusLines(status, for: session.terminal).all { try session.output.line(line) }
        }
        return StatusLines.isDegraded(status) ? .notFound : .done
    }

    private func follow(in session: Session) async throws -> ExitStatus {
        let (terminal, pipe) = (session.terminal.onScreen, session.terminal.asPipe)
        var changes = LineChanges()
        let watching = Watching(session: session, title: "discoverd status") {
            try await session.ask("/v1/status")
        } lines: { status in
            StatusLines(status, for: terminal).all
        } tell: { status in
            let news = changes.changes(to: StatusLines(status, for: pipe, hasTimes: false).all)
            guard session.json else { return try session.output.changes(news) }
            if !news.isEmpty { try Self.printJSON(status, session) }
        }
        return try await watching.run()
    }

    private static func printJSON(_ status: JSONValue, _ session: Session) throws {
        try session.output.json { json in
            json.write(status)
            json.endLine()
        }
    }
}

/// `discoverd status` for people: a label and a text a line, safe for a terminal. A value.
struct StatusLines {
    private let terminal: Terminal
    /// Left out where lines are compared: they change all the time.
    private let hasTimes: Bool
    private(set) var all: [String] = []

    init(_ status: JSONValue, for terminal: Terminal, hasTimes: Bool = true) {
        self.terminal = terminal
        self.hasTimes = hasTimes
        addDaemon(status)
        for feed in status["warm"]?.array ?? [] { add("warm", Self.warm(feed)) }
        for domain in status["domains"]?.array ?? [] { add("domain", text(domain)) }
        for export in status["exports"]?.array ?? [] { add("export", Self.export(export)) }
        addServices((status["registrations"]?.array ?? []).compactMap { RegistrationStatus($0) })
    }

    /// How many there are in each state, and those with which something is the matter.
    private mutating func addServices(_ all: [RegistrationStatus]) {
        let counts = Dictionary(grouping: all, by: \.state).map { (state: $0.key, count: $0.value.count) }
        let texts = counts.sorted { $0.state.rawValue < $1.state.rawValue }.map { "\($0.count) \($0.state.rawValue)" }
        add("services", all.isEmpty ? "none" : texts.joined(separator: ", "))
        for one in all where one.state != .established || one.reason != nil || one.warning != nil {
            add("", ListedOffer.record(one, terminal))
        }
    }

    /// The daemon is degraded; also where it does not say.
    static func isDegraded(_ status: JSONValue) -> Bool { status["degraded"]?.bool ?? true }

    private mutating func addDaemon(_ status: JSONValue) {
        let isDegraded = Self.isDegraded(status)
        let state = terminal.paint(isDegraded ? "degraded" : "running", isDegraded ? .yellow : .green)
        let version = status["version"]?.string ?? "?"
        // The daemon reports its process id only to root and its own user.
        let pid = status["pid"]?.integer.map { ", pid \($0)" } ?? ""
        let uptime = hasTimes ? ", up \(status["uptimeSeconds"]?.integer ?? 0) s" : ""
        add("daemon", "\(state), version \(version.escapedForTerminal)\(pid)\(uptime)")
        for reason in status["reasons"]?.strings ?? [] { add("", reason.escapedForTerminal) }
        for role in ["finder", "publisher"] {
            let words = [status[role]?["kind"]?.string ?? "?", status[role]?["state"]?.string ?? "?"]
            add(role, words.map(\.escapedForTerminal).joined(separator: ", "))
        }
        add("socket", (status["socket"]?.string ?? "?").escapedForTerminal)
        let limit = status["limits"]?["clients"]?.integer ?? 0
        add("clients", "\(status["clients"]?.integer ?? 0) of \(limit)")
    }

    private static func warm(_ feed: JSONValue) -> String {
        let type = (feed["type"]?.string ?? "every type").escapedForTerminal
        let what = (feed["name"]?.string).map { "\"\($0.escapedForTerminal)\" \(type)" } ?? type
        let settled = feed["settled"]?.bool == true ? "" : ", not settled"
        let configured = feed["configured"]?.bool == true ? ", configured" : ""
        let count = feed["services"]?.integer ?? 0
        let place = ([feed["family"]?.string].compactMap(\.self) + (feed["interfaces"]?.strings ?? []))
            .map { ", \($0.escapedForTerminal)" }.joined()
        return "\(what)\(place): \(count) service\(count == 1 ? "" : "s")\(settled)\(configured)"
    }

    /// `home.example.org: held, 10.0.0.53, key pub, lease 7200 s, 3 services`
    private func text(_ domain: JSONValue) -> String {
        let count = domain["services"]?.integer ?? 0
        let state = domain["publishes"]?.bool == true ? domain["state"]?.string ?? "?" : "no key, found only"
        let lease = domain["leaseSeconds"]?.integer ?? 0
        let left = hasTimes ? domain["leaseLeftSeconds"]?.integer.map { " (\($0) s left)" } ?? "" : ""
        let parts: [String?] = [
            state, domain["server"]?.string, domain["key"]?.string.map { "key \($0)" }, "lease \(lease) s\(left)",
            "\(count) service\(count == 1 ? "" : "s")", domain["reason"]?.string,
        ]
        return "\(domain["name"]?.string ?? "?"): \(parts.compactMap(\.self).joined(separator: ", "))"
            .escapedForTerminal
    }

    /// `link1.home.example.org: 3 services; not exported: 2 address, 1 name`
    private static func export(_ export: JSONValue) -> String {
        let count = export["services"]?.integer ?? 0
        let refused = ["name", "unfit", "foreign-host", "address", "text", "too-many"].compactMap { reason in
            (export["refused"]?[reason]?.integer).map { "\($0) \(reason)" }
        }
        let rest = refused.isEmpty ? "" : "; not exported: \(refused.joined(separator: ", "))"
        let failure = (export["reason"]?.string).map { "; the link is not followed: \($0)" } ?? ""
        return "\(export["domain"]?.string ?? "?"): \(count) service\(count == 1 ? "" : "s")\(rest)\(failure)"
            .escapedForTerminal
    }

    private mutating func add(_ key: String, _ text: String) {
        let padded = key + String(repeating: " ", count: max(0, 9 - key.count))
        all.append(terminal.isInteractive ? "\(padded)  \(text)" : "\(key)\t\(text)")
    }
}
#endif
