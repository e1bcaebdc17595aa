import DNSSD
import Discovery
import DiscoverySystem
import Records

/// Publishes one service on avahi-daemon: carries out what its `Registration` decides.
final class PublishOperation: CoreOperation {
    private var service: OfferedService
    private let report: (PublicationFact) -> Void
    private var registration: Registration
    private var connection: AvahiConnection?
    private let groups: EntryGroupSet<Int32>
    /// The addresses of the host, where they are published here.
    private let host: HostAddresses?
    private let timer: LoopTimer
    private let links: LinkMonitor
    private let connections: EntryGroupConnections
    private let turns: BoundedWorkQueue
    private let loop: EventLoop
    private let known: AvahiEngine.KnownNames?
    private var turn = Turn.none

    /// How far registering is that was begun.
    private enum Turn: Hashable {
        case none, awaited
        /// Someone is asked whether this name is known as another's.
        case lookingUp(ServiceName)
    }

    init(
        service: OfferedService, _ registration: Registration, core: EngineCore,
        report: @escaping (PublicationFact) -> Void
    ) {
        self.service = service
        self.report = report
        links = core.links
        connections = core.groupConnections
        turns = core.turns
        loop = core.loop
        known = core.known
        groups = EntryGroupSet(connections: core.groupConnections)
        host = HostAddresses(of: service, connections: core.groupConnections)
        self.registration = registration
        timer = LoopTimer(loop: core.loop)
        timer.fire = { [weak self] in
            guard let self else { return }
            self.carryOut(self.registration.retryIsDue())
        }
        host?.changed = { [weak self] state in self?.hostChanged(to: state) }
        guard service.interfaces != .all || host?.follows == true else { return }
        links.listen(self) { [weak self] in self?.linksChanged() }
    }

    /// avahi-daemon holds something of this service, or is about to.
    var isRegistered: Bool { registration.isRegistered }

    func connected(_ connection: AvahiConnection) { self.connection = connection }

    func publishing(_ isPossible: Bool) {
        if !isPossible { host?.free() }
        carryOut(registration.publishing(isPossible))
    }

    func disconnected(_ reason: String) {
        free()
        connection = nil
        carryOut(registration.disconnected(reason))
    }

    func end() {
        links.leave(self)
        free()
        connection = nil
        timer.free()
    }

    /// Replaces port and TXT record, in the groups and for later additions.
    func update(port: Port?, txt: TXTRecord) {
        let hasPort = port == nil || port == service.port
        (service.port, service.txt) = (port ?? service.port, txt)
        guard registration.isRegistered, connection?.isOpen == true else { return }
        do throws(DiscoveryError) {
            try checkText(as: registration.name)
            try groups.update { group, index throws(DiscoveryError) in
                if !hasPort { try group.updatePort(of: service, as: registration.name, interface: index) }
                try group.update(service, as: registration.name, interface: index)
            }
        } catch {
            groups.reset()
            carryOut(registration.failed(error, at: BootTime.now))
        }
    }

    private func free() {
        timer.deadline = nil
        groups.free()
        host?.free()
    }

    private func carryOut(_ actions: [Registration.Action]) {
        for action in actions {
            switch action {
            case .register: register()
            case .reset:
                groups.reset()
                if service.isAddressRecord { host?.reset() }
            case .retry(let delay): timer.set(after: delay)
            case .report(let fact): report(fact)
            case .end:
                links.leave(self)
                free()
            }
        }
    }

    /// Runs when its turn comes, with everything that has changed by then.
    private func register() {
        guard turn == .none else { return }
        turn = .awaited
        turns.add { [weak self] in self?.lookUp() }
    }

    /// Asks whether the name is known as another's, where someone knows.
    private func lookUp() {
        let name = registration.name
        turn = .lookingUp(name)
        // Another mirror may have brought the same: avahi-daemon compares.
        guard let known, !service.isAddressRecord, service.host?.addresses.isEmpty ?? true else {
            return lookedUp(isTaken: false)
        }
        let operation = LoopBound(to: loop, self)
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        known(instance, service.interfaces) { isTaken in
            operation.post { $0.lookedUp(isTaken: isTaken) }
        }
    }

    private func lookedUp(isTaken: Bool) {
        guard case .lookingUp(let name) = turn else { return }
        turn = .none
        guard registration.isRegistering, connection?.isOpen == true else { return }
        // Another one is wanted by now.
        guard registration.name == name else { return register() }
        guard isTaken else { return registerNow() }
        groups.reset()
        carryOut(registration.failed(DiscoveryError(.nameTaken, "another host has the name \(name)"), at: BootTime.now))
    }

    private func registerNow() {
        guard registration.isRegistering, connection?.isOpen == true else { return }
        do throws(DiscoveryError) {
            let wanted = try wantedInterfaces()
            groups.keep(wanted)
            // The host comes first, because the SRV record points to it.
            guard try fillHost(wanted) else { return }
            guard !service.isAddressRecord else {
                return carryOut(registration.changed(to: .established, at: BootTime.now))
            }
            try fill(wanted, as: registration.name)
        } catch {
            // After a local collision, try the next name, in its own turn.
            groups.reset()
            carryOut(registration.failed(error, at: BootTime.now))
        }
    }

    /// Publishes the host's addresses on these interfaces.
    /// - Returns: whether that is done, or there are none.
    private func fillHost(_ interfaces: [Int32]) throws(DiscoveryError) -> Bool {
        guard let host, let connection else { return true }
        do throws(DiscoveryError) {
            return try host.fill(interfaces, as: registration.name, besides: connection)
        } catch  where error.code == .nameTaken {
            hostChanged(to: .collision)
            return false
        }
    }

    private func hostChanged(to state: EntryGroup.State) {
        switch state {
        case .established: register()
        case .collision where service.isAlias: carryOut(registration.changed(to: state, at: BootTime.now))
        case .collision:
            host?.free()
            groups.reset()
            carryOut(registration.hostIsTaken(host?.isTaken ?? DiscoveryError(.nameTaken, "the host's name is taken")))
        case .failed(let error):
            host?.free()
            groups.reset()
            carryOut(registration.failed(error, at: BootTime.now))
        case .registering where service.isAddressRecord: carryOut(registration.changed(to: state, at: BootTime.now))
        case .uncommitted, .registering: break
        }
    }

    /// Adds the service to a group for each interface.
    private func fill(_ interfaces: [Int32], as name: ServiceName) throws(DiscoveryError) {
        guard let connection else { return }
        try checkText(as: name)
        for index in interfaces {
            let group = try groups.group(for: index) { changed throws(DiscoveryError) in
                try self.connections.group(besides: connection, stateChanged: changed)
            } changed: { [weak self] state in
                guard let self else { return }
                self.carryOut(self.registration.changed(to: state, at: BootTime.now))
            }
            try group.add(service, as: name, interface: index)
            try groups.commit(index)
        }
    }

    /// - Throws: `.invalidTXTRecord` for one that would never be sent.
    private func checkText(as name: ServiceName) throws(DiscoveryError) {
        guard service.txt.wireSize > TextRoom.certain else { return }
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        let links = SystemInterfaces.sizes(of: service.interfaces)
        if let refusal = TextRoom.refusal(of: service.txt, instance, on: links) { throw refusal }
    }

    /// Adds the service to new interfaces that match, and an alias' new addresses; leaves the others untouched.
    private func linksChanged() {
        guard registration.isRegistered, connection?.isOpen == true else {
            return carryOut(registration.interfacesChanged())
        }
        // A registration that waits for its turn will see the interfaces of that time.
        guard turn == .none else { return }
        do throws(DiscoveryError) {
            let wanted = try wantedInterfaces()
            groups.keep(wanted)
            let new = wanted.filter { !groups.contains($0) }
            guard !new.isEmpty || host?.follows == true else { return }
            _ = try fillHost(wanted)
            if !service.isAddressRecord { try fill(new, as: registration.name) }
        } catch {
            groups.reset()
            carryOut(registration.failed(error, at: BootTime.now))
        }
    }

    /// Avahi's indexes of the wanted interfaces; -1 for all.
    private func wantedInterfaces() throws(DiscoveryError) -> [Int32] {
        guard service.interfaces != .all else { return [AvahiPath.anyInterface] }
        let usable = SystemInterfaces.usable(by: service.interfaces)
        guard !usable.isEmpty else {
            throw DiscoveryError(.invalidInterface, SystemInterfaces.absence(of: service.interfaces))
        }
        return usable.map { Int32($0.interface.index) }
    }
}

/// How much of a TXT record avahi-daemon sends: for a record that fits no packet of the link it makes a larger one, but forgets that it
/// subtracts the headers of IP and UDP from that, too (avahi-core/response-sched.c, dns.c). Such a record is probed for and established, and
/// nothing but a line of its log says that it is never sent. Measured with 0.8, to the byte, for both families, with and without subtypes.
enum TextRoom {
    /// IPv6 and UDP, over IPv4 as well; the message's header; and the record's type, class, TTL and length.
    private static let overhead = 48 + 12 + 10
    /// What every link takes: the smallest MTU of IPv6 (RFC 8200 §5) with the longest name.
    static let certain = 1280 - overhead - 255

    /// The longest TXT record of a service that is sent on a link, in bytes.
    static func limit(of instance: ServiceInstance, mtu: Int) -> Int {
        let labels = [Array(instance.name.text.utf8)] + instance.type.labels + instance.domain.labels
        return mtu - overhead - labels.reduce(1) { $0 + $1.count + 1 }
    }

    /// Why a service's TXT record cannot be published on all of these links; nil if it can.
    static func refusal(
        of txt: TXTRecord, _ instance: ServiceInstance, on links: [(interface: NetworkInterface, mtu: Int)]
    ) -> DiscoveryError? {
        guard let narrow = links.min(by: { $0.mtu < $1.mtu }) else { return nil }
        let limit = limit(of: instance, mtu: narrow.mtu)
        guard txt.wireSize > limit else { return nil }
        return DiscoveryError(
            .invalidTXTRecord,
            "the TXT record has \(txt.wireSize) bytes; with this name avahi-daemon sends at most \(limit) on \(narrow.interface.name), whose MTU is \(narrow.mtu)"
        )
    }
}
