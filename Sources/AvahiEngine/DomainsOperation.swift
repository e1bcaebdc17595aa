import DNSSD
import Discovery

/// A `DomainQuery` on avahi-daemon.
final class DomainsOperation: CoreOperation {
    private struct Key: Hashable {
        let domain: Domain
        let index: Int32
    }

    private let query: DomainQuery
    private let report: (DomainFact) -> Void
    private var backend = BackendReport()
    private var browser: DomainBrowser?
    private var known: [Key: NetworkInterface?] = [:]
    private let restart: Restart
    private let links: LinkMonitor
    private var names = InterfaceNames()

    init(query: DomainQuery, loop: AvahiLoop, links: LinkMonitor, report: @escaping (DomainFact) -> Void) {
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
            browser = try DomainBrowser(on: connection, purpose: query.purpose) { [weak self] event in
                self?.received(event, connection)
            }
        } catch {
            failed(connection)
        }
    }

    private func received(_ event: DomainBrowser.Event, _ connection: AvahiConnection) {
        switch event {
        case .appeared(let name, let index):
            guard let (key, interface) = checked(name, index), known.updateValue(interface, forKey: key) == nil else {
                return
            }
            report(.appeared(key.domain, interface))
        case .disappeared(let name, let index):
            // Its interface may be gone, and have no name any more.
            if let domain = Domain(observed: name) { disappeared(Key(domain: domain, index: index)) }
        case .allForNow: report(.listed)
        case .failed: failed(connection)
        }
    }

    private func checked(_ name: String, _ index: Int32) -> (Key, NetworkInterface?)? {
        guard let domain = Domain(observed: name) else { return nil }
        let interface = NetworkInterface(systemIndex: index)
        if let interface, !query.interfaces.allows(interface.name) { return nil }
        return (Key(domain: domain, index: index), interface)
    }

    private func disappeared(_ key: Key) {
        if let interface = known.removeValue(forKey: key) { report(.disappeared(key.domain, interface)) }
    }

    /// As in `BrowseOperation`.
    private func linksChanged(_ connection: AvahiConnection) {
        let renamed = names.became()
        guard !renamed.isEmpty, connection.isOpen else { return }
        for key in known.keys where renamed.contains(key.index) { disappeared(key) }
        browse(on: connection)
    }

    private func failed(_ connection: AvahiConnection) {
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }
}
