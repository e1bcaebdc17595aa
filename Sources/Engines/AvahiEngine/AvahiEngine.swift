import CAvahi
import DNSMessage
public import DNSSD
public import Discovery
import DiscoverySystem
import Records

/// avahi-daemon as a `DiscoveryEngine`. All of Avahi's C API is called on one thread, which is this actor's
/// executor.
///
/// libavahi-client blocks while D-Bus or avahi-daemon do not answer, up to 25 s. Only that thread waits then.
public actor AvahiEngine: DiscoveryEngine {
    nonisolated let loop: EventLoop
    private let core: EngineCore
    /// The same for `deinit`, which may run on any thread.
    private nonisolated let carried: LoopBound<EngineCore>
    private nonisolated let noted: Troubles
    private nonisolated let numbers = Locked<UInt64>(0)

    /// The loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Starts the engine's thread. The first operation connects.
    /// - Throws: `.systemRefused` when the system gives no thread or no file descriptor. Operations report any other reason why
    ///   there is no avahi-daemon.
    public init() throws(DiscoveryError) {
        let noThread = "no thread or no file descriptor is left for Avahi's event loop"
        guard let loop = EventLoop(paused: "avahi") else { throw DiscoveryError(.systemRefused, noThread) }
        self.loop = loop
        let core = EngineCore(loop: loop)
        self.core = core
        noted = core.troubles
        carried = LoopBound(to: loop, core)
        guard loop.start() else { throw DiscoveryError(.systemRefused, noThread) }
    }

    // Not `isolated`: the optimiser of Swift 6.3 does not compile that.
    deinit {
        carried.post { $0.endAll(isConfirmed: false) }
        loop.stop()
    }

    /// Only the link's: what avahi-daemon asks DNS servers is on no link, and is not taken.
    public nonisolated func finds(in domain: Domain) -> Bool { domain == .local }

    /// Only the link's: avahi-daemon answers multicast questions, and registers nothing with a DNS server.
    public nonisolated func publishes(in domain: Domain) -> Bool { domain == .local }

    /// Follows the connection to avahi-daemon; see `EngineRole`.
    public nonisolated func watchState(
        _ reporting: @escaping @Sendable (EngineState) -> Void
    ) -> any EngineOperation {
        start { _ in StandingOperation(report: reporting, down: EngineState.down) { _, _ in .up } }
    }

    /// What avahi-daemon can do for a publisher.
    package enum Readiness: Hashable, Sendable {
        /// It cannot be reached; the reason is for people.
        case down(String)
        /// It answers, and does not publish yet: the host's own name is being registered, or taken.
        case answers
        /// It publishes, for the host of this name; nil where it does not say.
        case publishes(HostName?)
    }

    /// Follows whether avahi-daemon publishes. It is told before the publications are.
    package nonisolated func watchReadiness(
        _ reporting: @escaping @Sendable (Readiness) -> Void
    ) -> any EngineOperation {
        start { _ in
            StandingOperation(report: reporting, down: Readiness.down) { connection, publishes in
                publishes.map { $0 ? Readiness.publishes(connection.hostName) : .answers }
            }
        }
    }

    /// Starts a query on avahi-daemon; see `DiscoveryEngine`.
    public nonisolated func browse(
        _ query: ServiceQuery, reporting: @escaping @Sendable ([BrowseFact]) -> Void
    ) -> any EngineOperation {
        start { core in
            let batch = FactBatch(on: core.loop, reporting)
            let make = { ServiceGraph(query, at: $0, patience: .untilAnswered) }
            switch query.target {
            case .type(let type, let domain):
                let list = DomainName(listing: type, in: domain).map { RecordKey($0, .ptr) }
                return AvahiBrowse(
                    "services of \(type)", on: query.interfaces, over: query.family, core: core, report: batch,
                    make: make
                ) { connection, report throws(DiscoveryError) in
                    _ = try type.checkedForAvahi()
                    return try connection.browseList(list, over: query.family, report)
                }
            case .instance(let instance):
                do throws(DiscoveryError) {
                    _ = try instance.type.checkedForAvahi()
                } catch {
                    batch.add(.degraded(error.message))
                }
                return AvahiBrowse(
                    instance.name.text, on: query.interfaces, over: query.family, core: core, report: batch,
                    make: make, makeBrowser: nil)
            }
        }
    }

    /// Starts a query for types; see `DiscoveryEngine`.
    public nonisolated func browseTypes(
        _ query: TypeQuery, reporting: @escaping @Sendable ([TypeFact]) -> Void
    ) -> any EngineOperation {
        let name = DomainName.types(in: query.domain)
        return start { core in
            let make = { ListGraph<TypeKey>(typesIn: query.domain, at: $0) }
            return AvahiBrowse(
                "types", on: query.interfaces, over: query.family, core: core,
                report: FactBatch(on: core.loop, reporting), make: make
            ) { connection, report throws(DiscoveryError) in
                try connection.browseList(name.map { RecordKey($0, .ptr) }, over: query.family, report)
            }
        }
    }

    /// Starts a query for domains; see `DiscoveryEngine`.
    public nonisolated func browseDomains(
        _ query: DomainQuery, reporting: @escaping @Sendable ([DomainFact]) -> Void
    ) -> any EngineOperation {
        let label = query.purpose == .browsing ? "b" : "r"
        let name = DomainName([label, "_dns-sd", "_udp"], in: .local)
        return start { core in
            let make = { (origin: Origin) in
                name.map { name in ListGraph([name], at: origin) { Domain(labels: $0.labels) } }
            }
            return AvahiBrowse(
                "domains", on: query.interfaces, over: nil, core: core, report: FactBatch(on: core.loop, reporting),
                make: make
            ) { connection, report throws(DiscoveryError) in
                try connection.browseList(name.map { RecordKey($0, .ptr) }, over: nil, report)
            }
        }
    }

    /// Publishes with an entry group of its own; see `DiscoveryEngine`.
    public nonisolated func publish(
        _ service: OfferedService, onConflict: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> any PublicationOperation {
        guard service.domain == .local else {
            let text = "avahi-daemon publishes in the domain local alone, not in \(service.domain)"
            return SingleReport {
                reporting(PublicationFact(name: service.name, state: .failed(DiscoveryError(.invalidDomain, text))))
            }
        }
        return start { core in
            let registration = Registration(of: service, policy: onConflict, isPersistent: isPersistent)
            return PublishOperation(service: service, registration, core: core, report: reporting)
        }
    }

    /// Whether another host has a service on one of these links, as far as is known without asking.
    package typealias KnownNames =
        @Sendable (
            ServiceInstance, InterfaceFilter, _ answer: @escaping @Sendable (Bool) -> Void
        ) -> Void

    /// From now on names are taken for taken that `known` says others have: avahi-daemon would probe for them, and might not be heard.
    package nonisolated func ask(_ known: @escaping KnownNames) {
        loop.post { [self] in assumeIsolated { $0.core.known = known } }
    }

    /// What keeps answers incomplete now.
    public nonisolated var troubles: [String] { noted.texts }

    /// Asks avahi-daemon something, and returns when it has answered or is not there; up to 25 s later when it hangs.
    public func probe() { core.probe() }

    /// Ends everything. If avahi-daemon hangs it returns after 2 s, and the
    /// thread ends when the call does.
    /// - Returns: whether avahi-daemon has noticed in time, which for publications means that goodbyes are sent.
    @discardableResult
    public nonisolated func shutdown() async -> Bool {
        let gate = Gate()
        loop.post { [self] in assumeIsolated { $0.core.endAll(isConfirmed: true) } }
        loop.stop { gate.open() }
        return await gate.wait(atMost: .seconds(2))
    }

    /// How many objects avahi-daemon holds for this engine, for tests that look for leaks.
    public var openObjects: Int { core.objectCount + core.operationCount }

    private nonisolated func start(_ make: @escaping @Sendable (EngineCore) -> any CoreOperation) -> Ending {
        let id = numbers.withLock { number in
            number += 1
            return number
        }
        carried.post { $0.start(make($0), id: id) }
        // It keeps the engine alive.
        return Ending(
            { [self] in carried.post { $0.end(id: id) } },
            waiting: { [self] limit in
                await Gate.opens(within: limit) { gate in
                    carried.post { core in
                        core.end(id: id)
                        gate.open()
                    }
                }
            },
            change: { [self] port, txt in carried.post { $0.update(id: id, port: port, txt: txt) } })
    }
}

/// Reports what the connection to avahi-daemon is good for, and asks it for nothing.
private final class StandingOperation<State: Equatable>: CoreOperation {
    private var told: State?
    private var connection: AvahiConnection?
    private let report: (State) -> Void
    private let down: (String) -> State
    private let up: (AvahiConnection, _ publishes: Bool?) -> State?

    /// - Parameters:
    ///   - down: what it is while avahi-daemon cannot be reached, for this reason.
    ///   - up: what it is otherwise; nil where that is not known yet. Whether it publishes is told later: nil until then.
    init(
        report: @escaping (State) -> Void, down: @escaping (String) -> State,
        up: @escaping (AvahiConnection, _ publishes: Bool?) -> State?
    ) {
        (self.report, self.down, self.up) = (report, down, up)
    }

    func connected(_ connection: AvahiConnection) {
        self.connection = connection
        became(up(connection, nil))
    }

    func publishing(_ isPossible: Bool) { if let connection { became(up(connection, isPossible)) } }

    func disconnected(_ reason: String) {
        connection = nil
        became(down(reason))
    }

    func end() { connection = nil }

    private func became(_ standing: State?) {
        guard let standing, standing != told else { return }
        told = standing
        report(standing)
    }
}
