import DNSSD
import Discovery
import System

/// A query for things that are only there or not there, types or domains, on avahi-daemon.
final class PresenceOperation<Key: Hashable & Sendable>: CoreOperation {
    typealias MakeBrowser =
        (AvahiConnection, @escaping (PresenceBrowserEvent<Key>) -> Void) throws(DiscoveryError) -> AnyObject

    private struct Path: Hashable {
        let key: Key
        let path: PresencePath
    }

    private let interfaces: InterfaceFilter
    private let batch: FactBatch<PresenceFact<Key>>
    private let makeBrowser: MakeBrowser
    private var browser: AnyObject?
    private var known: [Path: Origin] = [:]
    /// Seen by a browser that failed, and not yet by the one that took its place.
    private var unconfirmed: Set<Path> = []
    private var isListed = false
    private let restart: Backoff
    private let links: LinkMonitor
    private var names = InterfaceNames()

    init(
        interfaces: InterfaceFilter, loop: EventLoop, links: LinkMonitor, report: FactBatch<PresenceFact<Key>>,
        makeBrowser: @escaping MakeBrowser
    ) {
        self.interfaces = interfaces
        self.links = links
        batch = report
        self.makeBrowser = makeBrowser
        restart = Backoff(loop: loop)
    }

    func connected(_ connection: AvahiConnection) {
        batch.add(.backend(.up))
        (known, unconfirmed, isListed) = ([:], [], false)
        names = InterfaceNames()
        browse(on: connection)
        links.listen(self) { [weak self] in self?.linksChanged(connection) }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        free()
        batch.add(.backend(.down(reason)))
    }

    func end() {
        free()
        restart.free()
        batch.end()
    }

    private func free() {
        links.leave(self)
        restart.cancel()
        browser = nil
    }

    private func browse(on connection: AvahiConnection) {
        browser = nil
        unconfirmed = Set(known.keys)
        do throws(DiscoveryError) {
            browser = try makeBrowser(connection) { [weak self] in self?.received($0, connection) }
        } catch {
            failed(error, connection)
        }
    }

    private func received(_ event: PresenceBrowserEvent<Key>, _ connection: AvahiConnection) {
        switch event {
        case .appeared(let key, let path): appeared(Path(key: key, path: path))
        case .disappeared(let key, let path): disappeared(Path(key: key, path: path))
        case .allForNow:
            restart.succeeded()
            for path in unconfirmed { disappeared(path) }
            listed()
        case .failed(let error): failed(error, connection)
        }
    }

    private func appeared(_ path: Path) {
        unconfirmed.remove(path)
        guard known[path] == nil, let origin = path.path.origin(allowedBy: interfaces) else { return }
        let isNew = !isSeen(path.key, at: origin)
        known[path] = origin
        if isNew { batch.add(.appeared(path.key, origin)) }
    }

    private func disappeared(_ path: Path) {
        unconfirmed.remove(path)
        guard let origin = known.removeValue(forKey: path), !isSeen(path.key, at: origin) else { return }
        batch.add(.disappeared(path.key, origin))
    }

    /// Over either family.
    private func isSeen(_ key: Key, at origin: Origin) -> Bool {
        known.contains { $0.key.key == key && $0.value == origin }
    }

    private func listed() {
        guard !isListed else { return }
        isListed = true
        batch.add(.listed)
    }

    /// What was seen on an interface by its old name is gone, and what it is to be called, or whether it is wanted, is found out again.
    private func linksChanged(_ connection: AvahiConnection) {
        let renamed = names.became()
        guard !renamed.isEmpty, connection.isOpen else { return }
        for path in known.keys where renamed.contains(path.path.index) { disappeared(path) }
        browse(on: connection)
    }

    private func failed(_ error: DiscoveryError, _ connection: AvahiConnection) {
        batch.add(.degraded(error.message))
        // Nothing more will come for now, which is an answer too: nobody may wait for ever.
        listed()
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }
}

/// Where a browser of types or domains saw something.
struct PresencePath: Hashable {
    /// The interface; less than 1: none, as of domains that are configured.
    let index: Int32
    /// Nil where Avahi does not tell.
    let family: IPAddress.Family?

    /// Nil when the interface has gone, or is not to be looked at.
    func origin(allowedBy filter: InterfaceFilter) -> Origin? {
        guard index > 0 else { return .unicast }
        guard let interface = NetworkInterface(systemIndex: index), filter.allows(interface.name) else { return nil }
        return .link(interface)
    }
}

/// What a browser of types or domains tells.
enum PresenceBrowserEvent<Key> {
    case appeared(Key, PresencePath)
    case disappeared(Key, PresencePath)
    case allForNow
    case failed(DiscoveryError)
}
