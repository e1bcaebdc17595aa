import AvahiEngine
import DNSSD
import Discovery
import DiscoverySystem
import MulticastEngine

/// One publication, with its operations at avahi-daemon and on the wire: carries out what its `PublicationRelay` decides.
final class RelayedPublication: PublicationOperation {
    private struct State {
        var relay: PublicationRelay
        var service: OfferedService
        var operations: [PublicationRelay.Publisher: any PublicationOperation] = [:]
        var retry: Task<Void, Never>?
        /// The program has ended it: nothing is reported any more.
        var isOver = false
    }

    private let avahi: AvahiEngine
    private let wire: MulticastEngine?
    private let policy: ConflictPolicy
    private let isPersistent: Bool
    private let report: @Sendable (PublicationFact) -> Void
    private let selection: @Sendable () -> PublisherSelection
    private let ended: @Sendable () -> Void
    private let state: Locked<State>
    private let reports = ReportQueue<Int>()

    /// - Parameters:
    ///   - selection: what publishes now.
    ///   - ended: called when the program ends it.
    init(
        _ service: OfferedService, _ policy: ConflictPolicy, isPersistent: Bool, avahi: AvahiEngine,
        wire: MulticastEngine?, report: @escaping @Sendable (PublicationFact) -> Void,
        selection: @escaping @Sendable () -> PublisherSelection, ended: @escaping @Sendable () -> Void
    ) {
        (self.policy, self.isPersistent, self.avahi, self.wire) = (policy, isPersistent, avahi, wire)
        (self.report, self.selection, self.ended) = (report, selection, ended)
        state = Locked(State(relay: PublicationRelay(name: service.name), service: service))
    }

    /// Has the publisher that is chosen now publish it.
    func follow() {
        change { state in
            let selection = self.selection()
            switch selection.choice {
            case .open: return []
            case .nobody(let reason): return state.relay.nobodyPublishes(reason)
            case .publisher(let publisher):
                let own = Environment.hostLabel.flatMap { try? HostName("\($0).local") }
                let host = selection.avahiHost
                let isSameHost = state.service.host != nil || host == nil || host == own
                return state.relay.choose(publisher, isSameHost: isSameHost)
            }
        }
    }

    private func change(_ decide: (inout State) -> [PublicationRelay.Action]) {
        state.withLock { state in
            guard !state.isOver else { return }
            for action in decide(&state) { carryOut(action, &state) }
        }
        reports.run()
    }

    private func carryOut(_ action: PublicationRelay.Action, _ state: inout State) {
        switch action {
        case .begin(let publisher, let name, let isProven): begin(publisher, name, isProven, &state)
        case .end(let publisher, let isSaid):
            let operation = state.operations.removeValue(forKey: publisher)
            if !isSaid, let operation = operation as? Ending {
                operation.cancelQuietly()
            } else {
                operation?.cancel()
            }
        case .report(let fact): reports.add(to: 0) { [report] in report(fact) }
        case .retry(let pause):
            state.retry?.cancel()
            state.retry = Task { [weak self] in
                try? await Task.sleep(for: pause)
                if !Task.isCancelled { self?.change { $0.relay.retryIsDue() } }
            }
        }
    }

    private func begin(
        _ publisher: PublicationRelay.Publisher, _ name: ServiceName, _ isProven: Bool, _ state: inout State
    ) {
        var service = state.service
        service.name = name
        let keeps = isPersistent || state.relay.wasEstablished
        let heard: @Sendable (PublicationFact) -> Void = { [weak self] fact in
            self?.change { $0.relay.heard(fact, from: publisher) }
        }
        state.operations[publisher] =
            switch publisher {
            case .avahi: avahi.publish(service, onConflict: policy, isPersistent: keeps, reporting: heard)
            case .wire:
                wire?.publish(
                    service, onConflict: policy, isPersistent: keeps, isProven: isProven, reporting: heard)
            }
    }

    func update(txt: TXTRecord) -> Bool {
        update(txt) { $0.update(txt: txt) }
    }

    func update(port: Port, txt: TXTRecord) -> Bool {
        state.withLock { $0.service.port = port }
        return update(txt) { $0.update(port: port, txt: txt) }
    }

    private func update(_ txt: TXTRecord, _ update: (any PublicationOperation) -> Bool) -> Bool {
        state.withLock { state in
            state.service.txt = txt
            return state.operations.values.reduce(true) { update($1) && $0 }
        }
    }

    /// Takes the operations away; nothing is reported any more.
    private func end() -> [any PublicationOperation] {
        let operations = state.withLock { state -> [any PublicationOperation] in
            state.isOver = true
            state.retry?.cancel()
            defer { state.operations = [:] }
            return state.operations.values.map(\.self)
        }
        reports.drop(0)
        ended()
        return operations
    }

    func cancel() { for operation in end() { operation.cancel() } }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        await end().allSucceed { await $0.cancel(waitingAtMost: limit) }
    }
}
