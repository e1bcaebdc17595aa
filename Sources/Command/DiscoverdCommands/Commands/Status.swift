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
            It says on which links the daemon finds, through what it publishes, how many services are published, and which of them are not well. \
            -v has every query and service. The status is 0 when the daemon is well, 1 when it is not (as when it cannot publish a service), and 69 \
            when none runs. A service that is withheld by its own check is named, but makes no difference.

            With --services each line has the state, the name, the type, the port, where it is from, and why it is not published. A service \
            of avahi-daemon comes from a file of /etc/avahi/services: 'discoverd setup avahi' makes it the daemon's. Without a daemon only these are \
            listed, and the status is 69.

            Examples:
              discoverd status
              discoverd status --services
              discoverd status --services --json | jq -r .name
              discoverd status --services --live       a screen that follows
            """)

    @Flag(name: .long, help: "List what the daemon publishes, and what files have avahi-daemon publish.")
    var services = false

    @Flag(
        name: .long,
        help: "Keep going: a screen that follows, or without a terminal the lines that come (+) and go (-).")
    var live = false

    @Flag(name: .customLong("watch"), help: .hidden)
    var isWatched = false

    private var watch: Bool { live || isWatched }

    @OptionGroup var common: DaemonOptions
    @OptionGroup var output: OutputOptions

    func needs() -> CommandNeeds { services ? CommandNeeds(daemon: .wanted) : .daemon }

    func execute(in session: Session) async throws -> ExitStatus {
        if services { return try await OfferList(watches: watch).run(in: session) }
        if watch { return try await follow(in: session) }
        let status = try await session.ask("/v1/status")
        if session.json {
            try Self.printJSON(status, session)
        } else {
            let lines = StatusLines(status, for: session.terminal, isFull: output.verbose)
            for line in lines.all { try session.output.line(line) }
        }
        return StatusLines.isDegraded(status) ? .notFound : .done
    }

    private func follow(in session: Session) async throws -> ExitStatus {
        let (terminal, pipe) = (session.terminal.onScreen, session.terminal.asPipe)
        let isFull = output.verbose
        var changes = LineChanges()
        let watching = Watching(session: session, title: "discoverd status") {
            try await session.ask("/v1/status")
        } lines: { status in
            StatusLines(status, for: terminal, isFull: isFull).all
        } tell: { status in
            let news = changes.changes(to: StatusLines(status, for: pipe, hasTimes: false, isFull: true).all)
            guard session.json else { return try session.output.changes(news) }
            if !news.isEmpty { try Self.printJSON(status, session) }
        }
        return try await watching.run()
    }

    private static func printJSON(_ status: JSONValue, _ session: Session) throws {
        try session.output.json(.status) { json in
            json.write(status)
            json.endLine()
        }
    }
}

/// `discoverd status` for people: a label and a text a line, safe for a terminal. A value.
struct StatusLines {
    private let terminal: Terminal
    private let links: [String]
    /// Left out where lines are compared: they change all the time.
    private let hasTimes: Bool
    /// A line for everything, in place of counts.
    private let isFull: Bool
    /// How many services that are not well are named, where not everything is.
    private static let most = 3
    /// How many lines there are on a terminal, where not everything is.
    private static let height = 15
    private static let labels = 9
    private var records: [Record] = []

    /// - Parameter links: the names of the links that the daemon finds on.
    init(
        _ status: JSONValue, for terminal: Terminal, links: [String] = DaemonWork.links(), hasTimes: Bool = true,
        isFull: Bool = false
    ) {
        self.links = links
        (self.terminal, self.hasTimes, self.isFull) = (terminal, hasTimes, isFull)
        addDaemon(status)
        addQueries(status["warm"]?.array ?? [])
        for domain in status["domains"]?.array ?? [] { add("domain", text(domain)) }
        for export in status["exports"]?.array ?? [] {
            add(export["to"] == nil && export["peers"] == nil ? "export" : "mirror", Self.export(export))
        }
        if let key = status["key"]?.string { add("key", key.escapedForTerminal) }
        for source in status["labels"]?.array ?? [] { addLabels(source) }
        for key in ["dns", "nss"] { addNames(key, status[key]?.array ?? []) }
        addServices((status["registrations"]?.array ?? []).compactMap { RegistrationStatus($0) })
    }

    var all: [String] {
        let whole = records.flatMap { $0.lines(for: terminal) }
        guard terminal.isInteractive, !isFull, whole.count > Self.height else { return whole }
        // The daemon's state as it is, all else in a line each.
        let lines = (records.first?.lines(for: terminal) ?? []) + records.dropFirst().map(short)
        let (kept, pointer) = (lines.prefix(Self.height - 1), "-v has the rest")
        return kept + ["".padded(to: Self.labels + 2) + pointer.fitted(to: terminal.columns - Self.labels - 3)]
    }

    private func short(_ record: Record) -> String {
        let text = record.fields.dropFirst().map(\.text).filter { !$0.isEmpty }.joined(separator: "  ")
        return (record.fields.first?.text ?? "").padded(to: Self.labels + 2)
            + text.fitted(to: terminal.columns - Self.labels - 3, isUTF8: terminal.isUTF8)
    }

    /// What the daemon answers at once. Questions that differ only in what is resolved are one for people.
    private mutating func addQueries(_ feeds: [JSONValue]) {
        let queries = ReadyQuery.merged(feeds)
        if isFull {
            for query in queries { add("ready", query.text) }
        } else if !queries.isEmpty {
            let types = Set(queries.map(\.type)).count
            let unsettled = queries.count { !$0.isComplete }
            let rest = unsettled == 0 ? "" : ", \(unsettled) not complete"
            add(
                "ready",
                "\(Self.counted(queries.count, "query", "queries")) of \(Self.counted(types, "type", "types"))\(rest)")
        }
    }

    private static func counted(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }

    /// How many there are in each state, and those with which something is the matter.
    private mutating func addServices(_ all: [RegistrationStatus]) {
        let counts = Dictionary(grouping: all, by: \.state.word).map { (word: $0.key, count: $0.value.count) }
        let texts = counts.sorted { $0.word < $1.word }.map { "\($0.count) \($0.word)" }
        add("services", all.isEmpty ? "none" : texts.joined(separator: ", "))
        let unwell = all.filter { $0.state != .established || $0.reason != nil || $0.warning != nil }
            .enumerated().sorted { ($0.element.state.urgency, $0.offset) < ($1.element.state.urgency, $1.offset) }.map(
                \.element)
        let named = isFull ? unwell : Array(unwell.prefix(Self.most))
        for one in named { add("", ListedOffer.record(one, isRead: true).fields) }
        if named.count < unwell.count {
            add("", "and \(unwell.count - named.count) more: 'discoverd status --services' lists them")
        }
    }

    /// Something is not well; also where it does not say.
    static func isDegraded(_ status: JSONValue) -> Bool { status["degraded"]?.bool ?? true }

    private mutating func addDaemon(_ status: JSONValue) {
        let isDegraded = Self.isDegraded(status)
        let state = terminal.paint(isDegraded ? "not well" : "running", isDegraded ? .yellow : .green)
        let version = status["version"]?.string ?? "?"
        // The daemon reports its process id only to root and its own user.
        let pid = status["pid"]?.integer.map { ", pid \($0)" } ?? ""
        let uptime = hasTimes ? ", up \(status["uptimeSeconds"]?.integer ?? 0) s" : ""
        add("daemon", "\(state), version \(version.escapedForTerminal)\(pid)\(uptime)")
        for reason in status["reasons"]?.strings ?? [] { add("", reason.escapedForTerminal) }
        add("finds", DaemonWork(.finds, of: status).text(links: links))
        add("publishes", DaemonWork(.publishes, of: status).text(links: links))
        add("socket", (status["socket"]?.string ?? "?").escapedForTerminal)
        let limit = status["limits"]?["clients"]?.integer ?? 0
        add("clients", "\(status["clients"]?.integer ?? 0) of \(limit)")
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

    private static func patterns(_ value: JSONValue?) -> String {
        (value?.array ?? []).compactMap(\.string).joined(separator: ",")
    }

    /// `link1.home.example.org: 3 services; left out: 2 address, 1 name`
    private static func export(_ export: JSONValue) -> String {
        let count = export["services"]?.integer ?? 0
        let refused = [
            "name", "unfit", "foreign-host", "address", "no-route", "text", "original", "too-many",
        ].compactMap {
            reason in
            (export["refused"]?[reason]?.integer).map { "\($0) \(reason)" }
        }
        let rest = refused.isEmpty ? "" : "; left out: \(refused.joined(separator: ", "))"
        let verb = export["peers"] == nil ? "followed" : "told"
        let failure = (export["reason"]?.string).map { "; not \(verb): \($0)" } ?? ""
        let from = export["peer"]?.string ?? patterns(export["interfaces"])
        let connected = export["connected"]?.strings ?? []
        let peers = export["peers"]?.strings?.map { connected.contains($0) ? $0 : "\($0) (not connected)" }
        let to = export["to"].map(patterns) ?? peers?.joined(separator: ", ")
        let place = to.map { "\(from) to \($0)" } ?? export["domain"]?.string ?? "?"
        return "\(place): \(count) service\(count == 1 ? "" : "s")\(rest)\(failure)".escapedOnce
    }

    /// `podman: 2 services and aliases of 3 that run`, and what is wrong with others, where the asker may know.
    private mutating func addLabels(_ source: JSONValue) {
        let running = source["running"]?.integer ?? 0
        let refused = source["refused"]?.integer ?? 0
        let rest = refused == 0 ? "" : "; \(refused) refused"
        let failure = (source["reason"]?.string).map { "; \($0.escapedOnce)" } ?? ""
        let from = (source["from"]?.string ?? "?").escapedForTerminal
        let services = Self.counted(source["services"]?.integer ?? 0, "service or alias", "services and aliases")
        add("labels", "\(from): \(services) of \(running) that \(running == 1 ? "runs" : "run")\(rest)\(failure)")
        let all = source["refusals"]?.array ?? []
        for refusal in all.prefix(isFull ? all.count : Self.most) {
            let name = (refusal["name"]?.string ?? "?").quotedForMessage
            add("", "\(name): \((refusal["reason"]?.string ?? "?").escapedOnce)")
        }
    }

    /// Where names below `local` are answered, in a line, and why not elsewhere.
    private mutating func addNames(_ key: String, _ places: [JSONValue]) {
        func name(_ place: JSONValue) -> String { (place["at"]?.string ?? "?").escapedForTerminal }
        let served = places.filter { $0["answers"]?.bool == true }.map(name)
        if !served.isEmpty { add(key, "answers at \(served.joined(separator: ", "))") }
        for place in places where place["answers"]?.bool != true {
            add(
                key, "does not answer at \(name(place))\((place["reason"]?.string).map { ": \($0.escapedOnce)" } ?? "")"
            )
        }
    }

    private mutating func add(_ key: String, _ text: String) { add(key, [.init(safe: text, 0)]) }

    private mutating func add(_ key: String, _ fields: [Record.Field]) {
        var record = Record(.init(safe: key, Self.labels))
        record.fields += fields
        records.append(record)
    }
}

/// A query that the daemon answers at once. A value.
private struct ReadyQuery {
    let type: String
    /// What it asks, and where.
    private let subject: String
    private var services: Int
    private(set) var isComplete: Bool
    private var isConfigured: Bool

    init(_ feed: JSONValue) {
        type = (feed["type"]?.string ?? "every type").escapedForTerminal
        let what = (feed["name"]?.string).map { "\"\($0.escapedForTerminal)\" " } ?? ""
        let domain = feed["domain"]?.string.flatMap { $0 == "local" ? nil : $0 }
        let place = [feed["family"]?.string, domain].compactMap(\.self) + (feed["interfaces"]?.strings ?? [])
        subject = what + type + place.map { ", \($0.escapedForTerminal)" }.joined()
        services = feed["services"]?.integer ?? 0
        isComplete = feed["settled"]?.bool == true
        isConfigured = feed["configured"]?.bool == true
    }

    /// Each subject once, in the order of the first of each.
    static func merged(_ feeds: [JSONValue]) -> [ReadyQuery] {
        var (queries, places): ([ReadyQuery], [String: Int]) = ([], [:])
        for query in feeds.map(ReadyQuery.init) {
            guard let place = places[query.subject] else {
                places[query.subject] = queries.count
                queries.append(query)
                continue
            }
            queries[place].services = max(queries[place].services, query.services)
            queries[place].isComplete = queries[place].isComplete && query.isComplete
            queries[place].isConfigured = queries[place].isConfigured || query.isConfigured
        }
        return queries
    }

    var text: String {
        "\(subject): \(services) service\(services == 1 ? "" : "s")\(isComplete ? "" : ", not complete")\(isConfigured ? ", configured" : "")"
    }
}
#endif
