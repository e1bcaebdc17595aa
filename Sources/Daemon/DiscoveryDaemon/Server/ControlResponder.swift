internal import DNSSD
package import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Answers requests: one method for each resource (docs/contract/daemon.md).
package struct ControlResponder: Sendable {
    let network: LocalNetwork
    let warm: OpenQueries
    let registry: Registry
    let health: BackendHealth
    let metrics: MetricsRegistry
    let facts: DaemonFacts
    var clientCount: @Sendable () -> Int = { 0 }
    let reload: @Sendable () async -> Result<[String], ControlError>
    let doubts = Locked(Doubts())

    /// Answers a request; never throws, because every error is an answer.
    package func respond(_ request: ControlRequest) async -> ControlAnswer {
        let answer: ControlAnswer
        do throws(ControlError) {
            answer = try await route(request)
        } catch {
            answer = .error(error)
        }
        metrics.counted(Self.resource(request.path), answer)
        return answer
    }

    /// What a request is counted as: the number of a service, which clients choose, is no part of it.
    private static func resource(_ path: [String]) -> String {
        path.prefix(path.starts(with: ["v1", "registrations"]) ? 2 : 3).joined(separator: "/")
    }

    private func route(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        let reading = ["GET", "HEAD"]
        switch request.path {
        case ["healthz"]: return healthz(try request.takes(reading).peer)
        case ["metrics"]:
            try request.takes(reading)
            return await prometheus()
        case ["v1", "ping"]:
            try request.takes(reading)
            return .json { _ in }
        case ["v1", "status"]: return await status(try request.takes(reading).peer)
        case ["v1", "reload"]: return try await reload(request.takes(["POST"]))
        case ["v1", "prometheus", "sd"]: return try await targetGroups(request.takes(reading).query)
        case ["v1", "services"]: return try await services(request.takes(reading).query, request.version)
        case ["v1", "services", "unreachable"]: return try couldNotReach(request.takes(["POST"]).query, request.peer)
        case ["v1", "types"]: return try await types(request.takes(reading).query)
        case ["v1", "domains"]: return try await domains(request.takes(reading).query)
        // Endless: a HEAD of it would start a query for no reader.
        case ["v1", "services", "watch"]: return try watchServices(request.takes(["GET"]).query)
        case ["v1", "types", "watch"]: return try watchTypes(request.takes(["GET"]).query)
        case ["v1", "domains", "watch"]: return try watchDomains(request.takes(["GET"]).query)
        case ["v1", "backend", "watch"]: return try watchBackend(request.takes(["GET"]).query)
        case ["v1", "registrations"]: return try await registrations(request.takes(reading + ["POST"]))
        case let path where path.count == 3 && path.starts(with: ["v1", "registrations"]):
            return try await registration(path[2], request.takes(reading + ["DELETE"]))
        case let path where path.count == 4 && path.starts(with: ["v1", "registrations"]) && path[3] == "txt":
            return try await registrationText(path[2], request.takes(["PUT"]))
        // The page is served over TCP alone.
        case ["page.json"] where request.isReadOnly:
            try request.takes(reading)
            return .pageFacts(session: false, doctor: false, daemon: true)
        case let path:
            guard request.isReadOnly, let file = PageFile.at(path) else {
                let text = "/" + path.joined(separator: "/")
                throw ControlError(
                    404, "no-such-resource", "\(text.quotedForMessage): the daemon has nothing of this name")
            }
            try request.takes(reading)
            return .file(file)
        }
    }

    private func reload(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        if let reason = await registry.refusalToManage(request.peer) {
            throw ControlError(403, DiscoveryError.Code.notPermitted.description, reason)
        }
        let needsRestart = try await reload().get()
        guard request.version == .two, !needsRestart.isEmpty else { return .nothing }
        return .json { $0.member("needsRestart", needsRestart) }
    }
}

/// Facts about the daemon.
package struct DaemonFacts: Sendable {
    package var version: String
    package var pid: Int32
    package var started: ContinuousClock.Instant
    package var backend: String
    /// What finds services on the link.
    package var finder: String
    package var socket: String
    package var limits: ConnectionTable.Limits
    /// What publishes now, `avahi` or `wire`; nil where nothing does.
    package var publishing: @Sendable () -> String? = { nil }
    /// This machine's name there, and the one that it would have, had no other host that one.
    package var machineName: @Sendable () -> (name: String, wanted: String)? = { nil }
    /// What addresses are judged by.
    package var localAddresses: @Sendable () -> LocalAddresses = { .system() }
    package var routes: @Sendable () -> any RouteLookup = { SystemRoutes() }
    /// The domains that DNS servers serve.
    package var domains: @Sendable () -> [DomainState] = { [] }
    /// What the gateway does, rule by rule.
    package var exports: @Sendable () async -> [GatewayStatus] = { [] }
    /// The key by which daemons of other sites know this one; nil where none is configured.
    package var key: String?
    /// What labels come to, source by source.
    package var labels: @Sendable () -> [LabelStatus] = { [] }
    /// Where names below `local` are answered.
    package var names: @Sendable () -> NamesStatus = { NamesStatus() }

    package init(
        version: String, pid: Int32, backend: String, finder: String, socket: String, limits: ConnectionTable.Limits,
        started: ContinuousClock.Instant = .now
    ) {
        self.version = version
        self.pid = pid
        self.started = started
        self.backend = backend
        self.finder = finder
        self.socket = socket
        self.limits = limits
    }
}

extension ControlResponder {
    private func isUp(_ role: BackendHealth.Role) -> Double {
        health.state(of: role).map { $0.reason == nil ? 1 : 0 } ?? 0
    }

    func prometheus() async -> ControlAnswer {
        var text = PrometheusText()
        text.add(
            "discoverd_info", .gauge, "Always 1; the labels say what runs.", 1,
            [("version", facts.version), ("backend", facts.backend), ("finder", facts.finder)])
        text.add("discoverd_backend_up", .gauge, "1 while what publishes answers.", isUp(.publisher))
        text.add("discoverd_finder_up", .gauge, "1 while what finds services answers.", isUp(.finder))
        text.add(
            "discoverd_backend_restarts_total", .counter, "How often what publishes went away and came back.",
            Double(health.restarts))
        text.add(
            "discoverd_degraded", .gauge, "1 while something is wrong; status says what.",
            health.reasons.isEmpty ? 0 : 1)
        text.add("discoverd_clients", .gauge, "Connections to the control socket.", Double(clientCount()))
        text.describe("discoverd_services", .gauge, "Services that are known, by type that is asked for all the time.")
        var known: Set<String> = []
        for row in warm.contents.sorted(by: { $0.feed.id < $1.feed.id }) {
            guard case .query(let query) = row.question, case .type(let type, let domain) = query.target,
                row.isPinned, known.insert("\(type).\(domain)").inserted
            else { continue }
            text.sample(
                "discoverd_services",
                [("type", type.description), ("domain", domain.text)],
                Double(row.feed.count)
            )
        }
        text.add("discoverd_queries", .gauge, "Queries that are held open.", Double(warm.contents.count))
        text.describe("discoverd_registrations", .gauge, "Services of this machine, by state.")
        let states = Dictionary(grouping: await registry.statuses, by: \.state)
        let shown: [RegistrationStatus.State] = [
            .established, .registering, .waiting, .withheld, .conflicted, .failed,
        ]
        for state in shown {
            text.sample("discoverd_registrations", [("state", state.rawValue)], Double(states[state]?.count ?? 0))
        }
        text.domains(facts.domains())
        text.exports(await facts.exports())
        process(&text)
        metrics.write(to: &text)
        return .whole(status: 200, type: PrometheusText.contentType, body: text.bytes)
    }

    /// What every exporter reports about its process; less without /proc.
    private func process(_ text: inout PrometheusText) {
        var usage = rusage()
        if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            text.add(
                "process_cpu_seconds_total", .counter, "CPU time used.",
                seconds(usage.ru_utime) + seconds(usage.ru_stime))
        }
        if let bytes = try? SystemFile.read("/proc/self/statm", atMost: 4096) {
            let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            if fields.count > 1, let pages = Double(fields[1]) {
                text.add(
                    "process_resident_memory_bytes", .gauge, "Resident memory.",
                    pages * Double(sysconf(Int32(_SC_PAGESIZE))))
            }
        }
    }
}

/// How `GET /v1/services` answers.
enum ListingFormat: String, Sendable {
    /// One JSON object.
    case json
    /// As `discoverd browse --json` prints it: one event a line, `settled` last if that is all.
    case lines
    /// As `discoverd browse` prints it into a pipe; anything else is in lines that begin with `#`.
    case text

    var contentType: String {
        switch self {
        case .json: "application/json"
        case .lines: "application/x-ndjson"
        case .text: "text/plain; charset=utf-8"
        }
    }
}

extension ControlResponder {
    /// Answers are kept up to this size as long as nothing changes.
    private static var keptBytes: Int { 1024 * 1024 }

    func services(_ query: QueryString, _ version: JSONVersion) async throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofServices.union(["wait", "format"]))
        let request = try ServiceRequest(query)
        let (question, limit) = questionAndLimitOnce(request)
        let patience = min(try query.patience(), limit ?? .seconds(30))
        guard let format = query["format"].map({ ListingFormat(rawValue: $0) }) ?? .json else {
            throw ControlError(400, "invalid-request", "format is json, lines or text")
        }
        let answer = await warm.withFeed(question) { feed in
            await feed.settled(within: patience)
            // Lines and text are the same in both versions.
            let kind = QueryFeed.Kept.Kind(
                format: format.rawValue, version: format == .json ? version : .one, detail: request.detail)
            if request.name == nil, let kept = feed.kept(kind) {
                return ControlAnswer.bytes(kept, type: format.contentType)
            }
            let state = feed.snapshot
            let services = request.name == nil ? state.services : state.services.filter(request.asks)
            let pieces = { Self.pieces(services, state, request.detail, format, version) }
            if let bytes = pieces().whole(atMost: Self.keptBytes) {
                if request.name == nil { feed.keep(bytes, kind, asOf: state.head) }
                return ControlAnswer.bytes(bytes, type: format.contentType)
            }
            return .pieces(status: 200, type: format.contentType, pieces())
        }
        guard let answer else { throw Self.full }
        return answer
    }

    static func pieces(
        _ services: [DiscoveredService],
        _ state: QueryFeed.Snapshot,
        _ detail: ServiceDetail,
        _ format: ListingFormat,
        _ version: JSONVersion
    ) -> ArrayPieces<DiscoveredService> {
        let isAll = state.isSettled && state.backend.reason == nil
        switch (format, version) {
        case (.json, .one):
            return ArrayPieces(
                elements: services, opening: #"{"v":1,"services":["#, closing: "]}\n"
            ) { service, bytes in
                JSONWriter.append(to: &bytes) { $0.service(service, detail: detail) }
            }
        case (.json, .two):
            var closing = Array("],\"complete\":\(isAll && state.degraded == nil)".utf8)
            if let degraded = state.degraded {
                closing += #","reason":"#.utf8
                JSONWriter.append(to: &closing) { $0.string(degraded) }
            }
            return ArrayPieces(
                elements: services, opening: #"{"v":2,"services":["#,
                closing: String(decoding: closing, as: UTF8.self) + "}\n"
            ) { service, bytes in
                var old = JSONWriter()
                old.service(service, detail: detail)
                let new = Version2.service((try? JSONReader.read(old.bytes)) ?? .null)
                JSONWriter.append(to: &bytes) { $0.write(new) }
            }
        case (.lines, _):
            var opening = JSONWriter()
            if let degraded = state.degraded { opening.degradedLine(degraded) }
            var closing = JSONWriter()
            if isAll { closing.line("settled") }
            return ArrayPieces(
                elements: services,
                opening: String(decoding: opening.bytes, as: UTF8.self),
                separator: "",
                closing: String(decoding: closing.bytes, as: UTF8.self)
            ) { service, bytes in
                JSONWriter.append(to: &bytes) { $0.line(.found(service), detail: detail) }
            }
        case (.text, _):
            let degraded = state.degraded.map { "# degraded\t\($0.escapedForTerminal)\n" } ?? ""
            return ArrayPieces(
                elements: services, opening: degraded, separator: "", closing: isAll ? "# settled\n" : ""
            ) { service, bytes in
                bytes += "+\t\(service.textFields(detail).joined(separator: "\t"))\n".utf8
            }
        }
    }
}
