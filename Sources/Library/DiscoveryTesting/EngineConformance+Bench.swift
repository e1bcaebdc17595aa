import DNSSD
import Discovery
import DiscoveryPOSIX
import Libc

extension EngineConformance {
    /// A check's equipment: a network on each side.
    struct Bench {
        let environment: Environment
        let publisher: LocalNetwork
        let browser: LocalNetwork
        let type: ServiceType
        let port: Port

        /// Where services are published and found.
        var domain: Domain { environment.domain }

        /// The browsing side's engine, below its network.
        var engine: any DiscoveryEngine { environment.browser }

        init(_ environment: Environment) throws {
            self.environment = environment
            publisher = LocalNetwork(engine: environment.publisher, limits: environment.limits, time: environment.time)
            browser = LocalNetwork(engine: environment.browser, limits: environment.limits, time: environment.time)
            type = try ServiceType("_conformance._tcp")
            port = try Port(9000)
        }

        func service(
            _ name: String,
            port: Int = 9000,
            txt: KeyValuePairs<String, String?> = [:]
        ) throws -> OfferedService {
            OfferedService(
                name: try ServiceName(name), type: type, domain: domain, port: try Port(port), txt: try TXTRecord(txt))
        }

        /// Publishes a service while `body` runs, which begins once it is established.
        func withPublished<Result>(
            _ service: OfferedService, _ body: (Publication, ServiceName) async throws -> Result
        ) async throws -> Result {
            try await publisher.withPublished(service) { publication in
                try await body(publication, try await publication.established())
            }
        }

        func query(_ resolution: ServiceQuery.Resolution) -> ServiceQuery {
            ServiceQuery(.type(type, domain), resolution: resolution)
        }

        /// Services of links have interfaces, and those of a DNS server have none.
        func expectPlace(of service: DiscoveredService) throws {
            let isOnLinks = environment.capabilities.contains(.links)
            try expect(service.interfaces.isEmpty != isOnLinks, "interfaces: \(service.interfaces)")
        }

        func watch(_ resolution: ServiceQuery.Resolution = .watch) -> Watcher {
            watch(browser.browse(type, in: domain, resolution: resolution))
        }

        func watch(_ type: ServiceType) -> Watcher { watch(browser.browse(type, in: domain)) }

        func watch(_ events: ServiceEvents) -> Watcher {
            Watcher(events, patience: environment.patience, by: environment.time)
        }

        func log<Fact: Sendable>(_ fact: Fact.Type) -> FactLog<Fact> { FactLog(by: environment.time) }
    }

    /// Collects events until the one that a check waits for.
    struct Watcher {
        private var iterator: ServiceEvents.AsyncIterator
        private let patience: Duration
        private let time: any TimeSource
        /// All events so far.
        private(set) var events: [ServiceEvent] = []

        init(_ events: ServiceEvents, patience: Duration, by time: any TimeSource) {
            iterator = events.makeAsyncIterator()
            self.patience = patience
            self.time = time
        }

        /// Waits for the next event for which `match` returns a result.
        mutating func wait<Result>(
            for what: String,
            _ match: (ServiceEvent) -> Result?
        ) async throws -> Result {
            let deadline = time.now + patience
            while let batch = try await iterator.nextBatch(atMost: 1, until: deadline) {
                guard let event = batch.first else { break }
                events.append(event)
                if let result = match(event) { return result }
            }
            throw Failure("waited \(patience) for \(what); there were: \(events)")
        }

        /// Waits until the service is reported with what `isRight` asks for.
        mutating func found(
            _ name: ServiceName,
            _ isRight: (DiscoveredService) -> Bool = { _ in true }
        ) async throws -> DiscoveredService {
            try await wait(for: "\(name)") { event in
                switch event {
                case .found(let service), .changed(let service):
                    service.instance.name == name && isRight(service) ? service : nil
                default: nil
                }
            }
        }

        mutating func lost(_ name: ServiceName) async throws {
            try await wait(for: "the loss of \(name)") { event in
                if case .lost(let service) = event, service.instance.name == name { () } else { nil }
            }
        }
    }

    static func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
        guard isTrue else { throw Failure(what()) }
    }
}

/// Records an engine's reports for a check to wait on.
final class FactLog<Fact: Sendable>: Sendable {
    private struct State {
        var facts: [Fact] = []
        var emptyBatches = 0
        var waiters = Waiters()
    }

    private let state = Locked(State())
    private let time: any TimeSource

    init(by time: any TimeSource) { self.time = time }

    var facts: [Fact] { state.withLock { $0.facts } }
    var emptyBatches: Int { state.withLock { $0.emptyBatches } }

    /// The closure to give to the engine.
    var report: @Sendable ([Fact]) -> Void {
        { [self] facts in
            let wake = state.withLock { state in
                if facts.isEmpty { state.emptyBatches += 1 }
                state.facts += facts
                return state.waiters.changed()
            }
            wake()
        }
    }

    /// Waits until `isThere` holds for all reports so far.
    /// - Returns: all reports so far.
    func wait(
        for what: String, _ patience: Duration, _ isThere: @escaping @Sendable ([Fact]) -> Bool
    ) async throws -> [Fact] {
        let found = await withTaskGroup(of: [Fact]?.self) { group in
            group.addTask { [self] in
                await state.first(in: \.waiters) { isThere($0.facts) ? $0.facts : nil }
            }
            group.addTask { [time] in
                try? await time.sleep(until: time.now + patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let found else { throw EngineConformance.Failure("waited \(patience) for \(what); there were: \(facts)") }
        return found
    }
}

/// Detects a report on the thread that is still inside the call that started the operation.
final class CallerThread: Sendable {
    private struct State {
        var caller: pthread_t?
        var wasReentered = false
    }

    private let state = Locked(State())

    var wasReentered: Bool { state.withLock { $0.wasReentered } }

    func during<Result>(_ call: () -> Result) -> Result {
        state.withLock { $0.caller = pthread_self() }
        defer { state.withLock { $0.caller = nil } }
        return call()
    }

    func noteReport() {
        state.withLock { state in
            if let caller = state.caller, pthread_equal(caller, pthread_self()) != 0 { state.wasReentered = true }
        }
    }
}
