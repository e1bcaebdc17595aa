import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem

/// The zone that contains a domain, and the server that takes its updates.
struct ZoneLocation: Sendable {
    let zone: DomainName
    let server: ServerAddress
}

/// Carries out the steps of a `ZonePublisher`: sends requests, waits for replies, and reports facts.
final class ZoneRunner: Sendable {
    /// Finds the server of a domain's zone.
    typealias Locate = @Sendable () async throws(DiscoveryError) -> ZoneLocation

    /// Whether something of it was in the zone, or was to be, when that was last looked at.
    private enum Business { case idle, busy, over }

    /// When this host's addresses are looked at.
    private enum Look {
        case due(at: Duration)
        case underWay
    }

    /// Whether the zone may have moved.
    private enum Trust {
        case trusted
        /// Something was refused since it was looked for.
        case doubted
        /// It is looked for again, by one task.
        case sought
        /// Something was refused meanwhile.
        case soughtAndDoubted

        var doubted: Trust { self == .sought || self == .soughtAndDoubted ? .soughtAndDoubted : .doubted }
        /// Of a zone that was looked for.
        var found: Trust { self == .soughtAndDoubted ? .doubted : .trusted }
    }

    private struct State {
        var rules: ZonePublisher
        var location: ZoneLocation?
        var trust = Trust.trusted
        var reporters: [Int: @Sendable (PublicationFact) -> Void] = [:]
        var facts: [Int: (wanted: ServiceInstance, fact: PublicationFact)] = [:]
        var waiters = Waiters()
        var business = Business.idle
        /// Configured addresses, which replace this host's own; empty for none.
        var given: Set<IPAddress>
        var key: TSIGKey?
        var look = Look.due(at: .zero)
        /// How long the machine had slept when that was last looked at.
        var slept = BootTime.asleep
        /// How many requests the server has answered as asked.
        var answers = 0
    }

    /// How often this host's addresses are looked at.
    private static let addressInterval = Duration.seconds(10)

    let domain: Domain
    private let exchange: any DNSExchange
    private let time: any TimeSource
    private let locate: Locate
    private let noteReaped: @Sendable () -> Void
    private let noteIdle: @Sendable () -> Void
    private let state: Locked<State>
    /// Reports to the registrations, and what else to call.
    private let reports = ReportQueue<Int>()
    private let alarms: AlarmClock
    private let alarm = Locked<Alarm?>(nil)

    init(
        _ rules: ZonePublisher, settings: DomainSettings, exchange: any DNSExchange, time: any TimeSource,
        noteReaped: @escaping @Sendable () -> Void = {}, noteIdle: @escaping @Sendable () -> Void = {},
        locate: @escaping Locate
    ) {
        domain = rules.layout.domain
        self.exchange = exchange
        self.time = time
        self.locate = locate
        self.noteReaped = noteReaped
        self.noteIdle = noteIdle
        alarms = AlarmClock(time: time)
        state = Locked(State(rules: rules, given: Set(settings.addresses), key: settings.key))
        let made = alarms.make { [weak self] _ in self?.turn() }
        alarm.withLock { $0 = made }
    }

    // MARK: Wishes

    func publish(
        _ service: OfferedService, onConflict policy: ConflictPolicy, isPersistent: Bool,
        reporting: @escaping @Sendable (PublicationFact) -> Void
    ) -> Int {
        let number = state.withLock { state in
            let number = state.rules.publish(service, onConflict: policy, isPersistent: isPersistent)
            state.reporters[number] = reporting
            if state.business == .idle { state.business = .busy }
            let fact = PublicationFact(name: service.name, state: .registering)
            state.facts[number] = (service.instance, fact)
            return number
        }
        // A report must not come from within the call that starts an operation.
        Task { self.turn() }
        return number
    }

    func update(_ number: Int, _ body: (inout OfferedService) -> Void) {
        state.withLock { $0.rules.update(number, body) }
        Task { self.turn() }
    }

    /// Publishes these addresses of the host instead of its interfaces' addresses.
    func use(_ addresses: Set<IPAddress>) {
        let isNew = state.withLock { state in
            defer { state.given = addresses }
            return state.given != addresses
        }
        guard isNew else { return }
        Task { self.turn { rules, _ in rules.addressesBecame(addresses) } }
    }

    /// Tries again what was refused: a publisher of the domain is gone.
    func retry() { Task { self.turn { rules, _ in rules.retry() } } }

    /// Signs with another key from the next message on.
    func use(_ key: TSIGKey) {
        let isNew = state.withLock { state in
            defer { state.key = key }
            return state.key != key
        }
        guard isNew else { return }
        Task { self.turn { rules, _ in rules.retryNow() } }
    }

    /// Whether it takes back the records of publishers that are gone.
    var watches: Bool { state.withLock { $0.rules.watches } }

    /// Takes back the records of publishers that are gone, until nothing of its own is in the zone.
    func watch() {
        state.withLock { $0.rules.watches = true }
        Task { self.turn() }
    }

    /// Whether something of it is in the zone, may be, or is to be.
    var hasAnything: Bool { state.withLock { $0.rules.hasAnything } }

    /// Withdraws a registration; its facts are no longer reported.
    func withdraw(_ number: Int) {
        state.withLock { state in
            state.reporters[number] = nil
            state.rules.withdraw(number)
        }
        reports.drop(number)
        Task { self.turn() }
    }

    /// Waits until nothing of a registration is left in the zone; nil for all registrations.
    /// - Returns: whether that was in time.
    func isGone(_ number: Int?, within limit: Duration) async -> Bool {
        await withTimeLimit(limit) { [self] in
            await state.first(in: \.waiters) { state in
                number.map { state.facts[$0] == nil } ?? !state.rules.hasAnything ? true : nil
            } ?? false
        }
    }

    /// Whether `shutdown` has ended.
    var isOver: Bool { state.withLock { $0.business == .over } }

    /// Withdraws everything, and ends.
    /// - Parameters:
    ///   - patience: how long a silent server is waited for.
    ///   - rounds: how many times as long one is waited for that goes on answering.
    /// - Returns: whether that was done in time.
    func shutdown(patience: Duration, rounds: Int) async -> Bool {
        for number in state.withLock({ Array($0.facts.keys) }) { withdraw(number) }
        var isDone = false
        for _ in 0..<rounds {
            let before = state.withLock { $0.answers }
            isDone = await isGone(nil, within: patience)
            if isDone || state.withLock({ $0.answers }) == before { break }
        }
        state.withLock { $0.business = .over }
        alarm.withLock { $0 = nil }
        return isDone
    }

    var status: ZoneStatus {
        let now = time.now
        return state.withLock { state in
            let rules = state.rules
            return ZoneStatus(
                domain: domain, server: state.location.map { "\($0.server.address) port \($0.server.port)" },
                key: state.key.map { "\($0.name)" }, state: rules.state, lease: .seconds(rules.leaseSeconds),
                leaseLeft: rules.leaseEnd.map { max(.zero, $0 - now) },
                registrations: state.facts.sorted { $0.key < $1.key }.map {
                    .init(wanted: $0.value.wanted, fact: $0.value.fact)
                },
                updates: rules.updates, failures: rules.failures, reaped: rules.reaped)
        }
    }

    // MARK: Turns

    private func turn(_ event: (@Sendable (inout ZonePublisher, Duration) -> Void)? = nil) {
        let now = time.now
        let (requests, looks) = state.withLock { state -> ([(Int, ZoneRequest)], Bool) in
            guard state.business != .over else { return ([], false) }
            let reaped = state.rules.reaped
            event?(&state.rules, now)
            if state.rules.reaped > reaped { reports.add(noteReaped) }
            var requests: [(Int, ZoneRequest)] = []
            for step in state.rules.next(now) {
                switch step {
                case .request(let ticket, let request): requests.append((ticket, request))
                case .report(let number, let fact):
                    state.facts[number]?.fact = fact
                    if let reporter = state.reporters[number] { reports.add(to: number) { reporter(fact) } }
                case .gone(let number):
                    state.reporters[number] = nil
                    state.facts[number] = nil
                }
            }
            reports.add(state.waiters.changed())
            let business = state.rules.hasAnything ? Business.busy : .idle
            if state.business == .busy, business == .idle {
                state.rules.watches = false
                reports.add(noteIdle)
            }
            state.business = business
            var deadlines = [state.rules.deadline]
            var looks = false
            if state.rules.needsAddresses, case .due(let time) = state.look {
                looks = time <= now
                if looks { state.look = .underWay } else { deadlines.append(time) }
            }
            alarm.withLock { $0?.set(to: deadlines.compactMap(\.self).min()) }
            return (requests, looks)
        }
        reports.run()
        for (ticket, request) in requests {
            // Each task ends by itself, within the exchange's time limit.
            Task { [self] in
                let reply = await carryOut(request)
                if reply.isAsAsked { state.withLock { $0.answers += 1 } }
                turn { $0.received(reply, to: ticket, $1) }
            }
        }
        if looks { Task { [self] in await lookAtAddresses() } }
    }

    private func lookAtAddresses() async {
        var addresses = state.withLock { $0.given }
        var isLookedAt = !addresses.isEmpty
        if addresses.isEmpty, let location = try? await location() {
            addresses = OwnAddresses.towards(location.server)
            isLookedAt = true
        }
        let (found, wasLookedAt) = (addresses, isLookedAt)
        state.withLock { state in
            state.look = .due(at: time.now + (found.isEmpty ? .seconds(1) : Self.addressInterval))
        }
        // Without any address nothing changes, because an interface may be down for a moment.
        let hasSlept = noticeSleep()
        turn { rules, _ in
            if !found.isEmpty || wasLookedAt && !rules.knowsAddresses { rules.addressesBecame(found) }
            if hasSlept { rules.slept() }
        }
    }

    /// Returns whether the machine has slept since the last call. During sleep leases go on, but `time` does not.
    private func noticeSleep() -> Bool {
        let slept = BootTime.asleep
        return state.withLock { state in
            defer { state.slept = slept }
            return slept - state.slept > .seconds(5)
        }
    }

    // MARK: Requests

    /// Returns where the zone is. After a refusal it is looked for again, while requests still go where it was: who withdraws has no time to wait.
    private func location() async throws(DiscoveryError) -> ZoneLocation {
        let (known, isSearchDue) = state.withLock { state -> (ZoneLocation?, Bool) in
            guard let known = state.location else {
                if state.trust == .doubted { state.trust = .trusted }
                return (nil, false)
            }
            let isDue = state.trust == .doubted && state.business != .over
            if isDue { state.trust = .sought }
            return (known, isDue)
        }
        // It ends by itself, within the time limit of its questions.
        if isSearchDue { Task { [self] in await lookForLocationAgain() } }
        if let known { return known }
        let found = try await locate()
        state.withLock { $0.location = found }
        return found
    }

    /// If the zone is not found, it is where it was.
    private func lookForLocationAgain() async {
        let found = try? await locate()
        state.withLock { state in
            state.trust = state.trust.found
            if let found, state.business != .over { state.location = found }
        }
    }

    private func carryOut(_ request: ZoneRequest) async -> ZoneReply {
        let reply = await replyOfServer(to: request)
        if case .outcome(.refused) = reply { state.withLock { $0.trust = $0.trust.doubted } }
        return reply
    }

    private func replyOfServer(to request: ZoneRequest) async -> ZoneReply {
        let place: ZoneLocation
        do throws(DiscoveryError) {
            place = try await location()
        } catch {
            let isPassing = [.backendUnavailable, .systemRefused].contains(error.code)
            return .outcome(isPassing ? .unheard(error.message) : .refused(error))
        }
        do throws(DNSFailure) {
            switch request {
            case .ask(let name, let type):
                let answer = try await exchange.ask(Question(name, type), of: .server(place.server))
                return ZoneReply(answer.message, to: Question(name, type), from: place)
            case .update(let update, let subject):
                let key = state.withLock { $0.key }
                let answer = try await exchange.update(update.message(to: place.zone), at: place.server, key: key)
                let context = UpdateContext(
                    zone: "\(place.zone)", server: "\(place.server.address)",
                    key: key.map { "\($0.name)" } ?? "")
                return .outcome(context.outcome(of: answer, subject: subject, clock: WallClock.seconds))
            }
        } catch {
            // The zone may have moved.
            state.withLock { $0.location = nil }
            switch error {
            case .silent(let reason):
                return .outcome(.unheard("the server \(place.server.address) does not answer: \(reason)"))
            case .system(let reason): return .outcome(.unheard(reason))
            case .impossible(let reason): return .outcome(.refused(DiscoveryError(.misconfigured, reason)))
            }
        }
    }
}
