import DNSSD
import Discovery

/// A `TypeQuery` on avahi-daemon.
final class TypesOperation: CoreOperation {
    private struct Key: Hashable {
        let type: ServiceType
        let domain: Domain
        let index: Int32
        let family: IPAddress.Family

        var otherFamily: Key { Key(type: type, domain: domain, index: index, family: family.other) }
    }

    private let query: TypeQuery
    private let report: (TypeFact) -> Void
    private var backend = BackendReport()
    private var browser: TypeBrowser?
    private var known: [Key: NetworkInterface] = [:]
    private let restart: Restart
    private let links: LinkMonitor
    private var names = InterfaceNames()

    init(query: TypeQuery, loop: AvahiLoop, links: LinkMonitor, report: @escaping (TypeFact) -> Void) {
        self.query = query
        self.report = report
        self.links = links
        restart = Restart(loop: loop)
    }

    func connected(_ connection: AvahiConnection) {
        if let state = backend.up() { report(.backend(state)) }
        known = [:]
        names = InterfaceNames()
        browse(on: connection)
        links.listen(self) { [weak self] in self?.linksChanged(connection) }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        free()
        if let state = backend.down(reason) { report(.backend(state)) }
    }

    func end() {
        free()
        restart.free()
    }

    private func free() {
        links.leave(self)
        restart.cancel()
        browser?.free()
        browser = nil
    }

    private func browse(on connection: AvahiConnection) {
        browser?.free()
        do throws(DiscoveryError) {
            browser = try TypeBrowser(on: connection, domain: query.domain, family: query.family) { [weak self] event in
                self?.received(event, connection)
            }
        } catch {
            failed(error, connection)
        }
    }

    private func received(_ event: TypeBrowser.Event, _ connection: AvahiConnection) {
        switch event {
        case .appeared(let type, let domain, let path):
            guard let (key, interface) = checked(type, domain, path), known[key] == nil else { return }
            known[key] = interface
            guard known[key.otherFamily] == nil else { return }
            report(.appeared(key.type, key.domain, interface))
        case .disappeared(let type, let domain, let path):
            guard let type = ServiceType(observed: type), let domain = Domain(observed: domain) else { return }
            let key = Key(type: type, domain: domain, index: path.index, family: path.family)
            disappeared(key)
        case .allForNow: report(.listed)
        case .failed(let error): failed(error, connection)
        }
    }

    private func disappeared(_ key: Key) {
        guard let interface = known.removeValue(forKey: key) else { return }
        if known[key.otherFamily] == nil { report(.disappeared(key.type, key.domain, interface)) }
    }

    /// As in `BrowseOperation`.
    private func linksChanged(_ connection: AvahiConnection) {
        let renamed = names.became()
        guard !renamed.isEmpty, connection.isOpen else { return }
        for key in known.keys where renamed.contains(key.index) { disappeared(key) }
        browse(on: connection)
    }

    private func checked(_ type: String, _ domain: String, _ path: AvahiPath) -> (Key, NetworkInterface)? {
        guard let type = ServiceType(observed: type), let domain = Domain(observed: domain),
            let interface = NetworkInterface(systemIndex: path.index), query.interfaces.allows(interface.name)
        else { return nil }
        return (Key(type: type, domain: domain, index: path.index, family: path.family), interface)
    }

    private func failed(_ error: DiscoveryError, _ connection: AvahiConnection) {
        report(.degraded(error.message))
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }
}

extension IPAddress.Family {
    var other: IPAddress.Family { self == .ipv4 ? .ipv6 : .ipv4 }
}
