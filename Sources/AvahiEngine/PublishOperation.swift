import DNSSD
import Discovery

/// Publishes one service on avahi-daemon: carries out what its `Registration` decides.
final class PublishOperation: CoreOperation {
    private let service: Service
    private let report: (PublicationFact) -> Void
    private var registration: Registration
    private var connection: AvahiConnection?
    private var group: EntryGroup?
    private let timer: LoopTimer

    init(
        service: Service, policy: ConflictPolicy, loop: AvahiLoop, report: @escaping (PublicationFact) -> Void
    ) {
        self.service = service
        self.report = report
        registration = Registration(name: service.name, policy: policy)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in
            guard let self else { return }
            self.carryOut(self.registration.retryIsDue())
        }
    }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    func publishing(_ isPossible: Bool) { carryOut(registration.publishing(isPossible)) }

    func disconnected(_ reason: String) {
        free()
        connection = nil
        carryOut(registration.disconnected(reason))
    }

    func end() {
        free()
        timer.free()
    }

    private func free() {
        timer.deadline = nil
        group?.free()
        group = nil
    }

    private func carryOut(_ actions: [Registration.Action]) {
        for action in actions {
            switch action {
            case .register(let name): register(as: name)
            case .reset: group?.reset()
            case .retry(let delay): timer.set(after: delay)
            case .report(let fact): report(fact)
            case .end: free()
            }
        }
    }

    private func register(as name: ServiceName) {
        guard let connection else { return }
        do throws(DiscoveryError) {
            let group = try group(on: connection)
            for index in try interfaces() { try group.add(service, as: name, interface: index) }
            try group.commit()
        } catch {
            // A local collision ends up here again, once for each name that is taken: at most `maximumRenames` deep.
            group?.reset()
            carryOut(registration.failed(error))
        }
    }

    private func group(on connection: AvahiConnection) throws(DiscoveryError) -> EntryGroup {
        if let group { return group }
        let made = try EntryGroup(on: connection) { [weak self] state in
            guard let self else { return }
            self.carryOut(self.registration.changed(to: state))
        }
        group = made
        return made
    }

    /// Avahi's indexes of the wanted interfaces; -1 for all.
    private func interfaces() throws(DiscoveryError) -> [Int32] {
        guard service.interfaces != .all else { return [AvahiPath.anyInterface] }
        let usable = SystemInterfaces.usable(by: service.interfaces)
        guard !usable.isEmpty else {
            let patterns = service.interfaces.patterns.joined(separator: ", ").escapedForTerminal
            throw DiscoveryError(.invalidInterface, "no interface that is up matches \(patterns)")
        }
        return usable.map { Int32($0.interface.index) }
    }
}
