import DNSSD
import Discovery

/// A `DomainQuery` on avahi-daemon.
final class DomainsOperation: CoreOperation {
    private let query: DomainQuery
    private let report: (DomainFact) -> Void
    private var backend = BackendReport()
    private var browser: DomainBrowser?
    private let restart: Restart

    init(query: DomainQuery, loop: AvahiLoop, report: @escaping (DomainFact) -> Void) {
        self.query = query
        self.report = report
        restart = Restart(loop: loop)
    }

    func connected(_ connection: AvahiConnection) {
        if let state = backend.up() { report(.backend(state)) }
        browse(on: connection)
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
            guard let (domain, interface) = checked(name, index) else { return }
            report(.appeared(domain, interface))
        case .disappeared(let name, let index):
            guard let (domain, interface) = checked(name, index) else { return }
            report(.disappeared(domain, interface))
        case .allForNow: report(.listed)
        case .failed: failed(connection)
        }
    }

    private func checked(_ name: String, _ index: Int32) -> (Domain, NetworkInterface?)? {
        guard let domain = Domain(observed: name) else { return nil }
        let interface = NetworkInterface(systemIndex: index)
        if let interface, !query.interfaces.allows(interface.name) { return nil }
        return (domain, interface)
    }

    private func failed(_ connection: AvahiConnection) {
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }
}
