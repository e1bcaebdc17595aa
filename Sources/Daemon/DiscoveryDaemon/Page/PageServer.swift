internal import DNSSD
package import Discovery
package import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Serves the page for one person, with what this user may see: `discoverd show`.
package final class PageServer: Sendable {
    /// Where it gets what the page shows.
    package struct Source: Sendable {
        package var network: LocalNetwork
        /// What finds services, in a word.
        package var finder: String
        package var version: String
        /// Nil without a daemon.
        package var daemon: ControlClient?
        /// What `discoverd doctor --json` prints.
        package var doctor: @Sendable () async throws(ControlError) -> [UInt8]

        package init(
            network: LocalNetwork, finder: String, version: String, daemon: ControlClient?,
            doctor: @escaping @Sendable () async throws(ControlError) -> [UInt8]
        ) {
            self.network = network
            self.finder = finder
            self.version = version
            self.daemon = daemon
            self.doctor = doctor
        }
    }

    private let source: Source
    private let services: ControlResponder
    private let health = BackendHealth()
    private let metrics = MetricsRegistry()
    private let session = Locked(PageSession())
    private let started = ContinuousClock.now
    private let log = DaemonLog(least: { .warning })
    private let isExamining = Locked(false)

    package init(_ source: Source) {
        self.source = source
        let facts = DaemonFacts(
            version: source.version, pid: getpid(), backend: "none", finder: source.finder, socket: "",
            limits: ConnectionTable.Limits())
        services = ControlResponder(
            network: source.network, warm: OpenQueries(network: source.network),
            // Whoever comes over TCP publishes nothing.
            registry: Registry(
                network: source.network, file: nil, policy: RegistryPolicy(AccessRules()), log: log
            ) { _ in },
            health: health, metrics: metrics, facts: facts, reload: { .success([]) })
    }

    /// What stands behind `#` of the URL.
    package var token: String { session.withLock { $0.token } }

    /// Serves on a listening TCP socket, which it takes over, until the task is cancelled.
    package func run(_ descriptor: Int32, whenServing: @escaping @Sendable () async -> Void) async throws {
        let server = ControlServer(metrics: metrics, log: log) { request in
            await Version2Request.answer(to: request) { await self.respond($0) }
        }
        let states = source.network.backendStates()
        let health = health
        let watch = Task {
            var iterator = states.makeAsyncIterator()
            while let state = try? await iterator.next() { health.became(state, [.finder]) }
        }
        let sweep = Task { [warm = services.warm] in
            while (try? await Task.sleep(for: .seconds(10))) != nil { warm.sweep() }
        }
        defer {
            watch.cancel()
            sweep.cancel()
        }
        let listener = ControlServer.Listener(descriptor: descriptor, isReadOnly: true)
        try await server.run([listener], whenServing: whenServing)
    }

    func respond(_ request: ControlRequest) async -> ControlAnswer {
        do throws(ControlError) {
            return try await answer(request)
        } catch {
            return .error(error)
        }
    }

    private func answer(_ request: ControlRequest) async throws(ControlError) -> ControlAnswer {
        if request.path == ["session"] { return try exchange(request) }
        if request.path == ["page.json"] || PageFile.at(request.path) != nil {
            // As over TCP, but for what the server is.
            guard request.path == ["page.json"], request.method == "GET" else { return await services.respond(request) }
            return .pageFacts(session: true, doctor: true, daemon: source.daemon != nil)
        }
        guard session.withLock({ $0.admits(request.authorization) }) else {
            throw ControlError(401, "no-session", "the page's key is missing: run 'discoverd show' again")
        }
        guard request.method == "GET" else { return await services.respond(request) }
        switch request.path {
        case ["v1", "doctor"]: return try await doctor()
        case ["v1", "status"]:
            // A daemon that is gone does not say so.
            return (try? await ask("/v1/status")) ?? status
        case ["v1", "registrations"]:
            return try await ask("/v1/registrations")
                ?? .json { $0.member("registrations", [String]()) }
        default: return await services.respond(request)
        }
    }

    private func exchange(_ request: ControlRequest) throws(ControlError) -> ControlAnswer {
        guard request.method == "POST" else {
            throw ControlError(405, "method-not-allowed", "possible here: POST", allow: ["POST"])
        }
        guard let key = session.withLock({ $0.exchange(request.authorization) }) else {
            throw ControlError(403, "used", "this link was opened before: run 'discoverd show' again")
        }
        return .json { $0.member("key", key) }
    }

    /// The daemon's answer to this user; nil without one.
    private func ask(_ target: String) async throws(ControlError) -> ControlAnswer? {
        guard let daemon = source.daemon else { return nil }
        return .whole(
            status: 200, type: "application/json", body: try await daemon.send(ControlClient.Request("GET", target)))
    }

    private var status: ControlAnswer {
        let reasons = health.reasons
        return .json { object in
            object.member("version", source.version)
            object.member("uptimeSeconds", Int(clamping: (ContinuousClock.now - started).components.seconds))
            object.backend("finder", source.finder, health.state(of: .finder))
            object.member("degraded", !reasons.isEmpty)
            object.member("reasons", reasons)
        }
    }

    /// One at a time: it starts a program.
    private func doctor() async throws(ControlError) -> ControlAnswer {
        if isExamining.exchange(true) { throw ControlError(503, "busy", "the machine is being checked already") }
        defer { isExamining.withLock { $0 = false } }
        let lines = try await source.doctor().split(separator: UInt8(ascii: "\n"))
        let findings = lines.compactMap { try? JSONReader.read(Array($0)) }
        return .json { object in
            object.array("findings", of: findings) { $0.write($1) }
        }
    }
}

/// Who may ask what `discoverd show` serves: whoever has exchanged its token, once, for the key. A value.
///
/// Other users of the machine reach the port too, and the token may stay in a history or a log: so it is worth nothing once the page has
/// been opened.
package struct PageSession: Sendable {
    /// Stands behind `#` of the URL, which a browser does not send (RFC 9110 §4.2.3).
    package let token: String
    private let key: String
    private var isExchanged = false

    /// - Parameter secret: makes 128 random bits.
    package init(secret: () -> String = Self.secret) {
        (token, key) = (secret(), secret())
    }

    /// The key, for the token's first bearer; nil for everyone else.
    package mutating func exchange(_ authorization: String?) -> String? {
        guard !isExchanged, Self.bears(authorization, token) else { return nil }
        isExchanged = true
        return key
    }

    /// Whether a request bears the key.
    package func admits(_ authorization: String?) -> Bool { isExchanged && Self.bears(authorization, key) }

    /// 128 bits of the kernel's generator (getrandom(2), which `SystemRandomNumberGenerator` asks).
    package static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// `Bearer SECRET` (RFC 6750 §2.1), compared in a time that says nothing of the secret.
    private static func bears(_ authorization: String?, _ secret: String) -> Bool {
        let (said, wanted) = (Array((authorization ?? "").utf8), Array("Bearer \(secret)".utf8))
        guard said.count == wanted.count else { return false }
        return zip(said, wanted).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
