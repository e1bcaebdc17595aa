import DNSSD
import Discovery
import DiscoverySystem

/// The part of a `BrowseOperation` that depends on what is browsed for: makes its browser, and its facts.
protocol BrowserFinding: AnyObject {
    associatedtype Key: Hashable
    associatedtype Fact: FinderFact

    /// A plural noun for messages.
    var subject: String { get }
    func browser(
        on connection: AvahiConnection, report: @escaping (BrowserEvent<Key>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup
    /// - Parameter isFirst: whether the key was not visible there over the other family.
    func appeared(_ key: Key, _ path: AvahiPath, at origin: Origin, isFirst: Bool)
    /// - Parameters:
    ///   - isLast: whether the key is not visible there over the other family either.
    ///   - isHidden: whether the interface is down, so that the service may well still exist.
    func disappeared(_ key: Key, _ path: AvahiPath, at origin: Origin, isLast: Bool, isHidden: Bool)
    /// The links or addresses of this machine have changed.
    func linksChanged()
    /// The browser is gone, and so is everything it reported.
    func clear()
}

/// Browses avahi-daemon for services of a type, for types or for domains. A browser that fails is replaced; keys that
/// the new one does not report again are gone.
final class BrowseOperation<Finding: BrowserFinding>: CoreOperation {
    private struct Sight: Hashable {
        let key: Finding.Key
        let path: AvahiPath
    }

    /// The most sightings kept: 4096 services on four paths each.
    private static var maximumSightings: Int { 16_384 }
    /// The number of sightings from which answers to Avahi's first question may be lost. Avahi asks again a second
    /// later (RFC 6762 §5.2), and answers arrive within 620 ms (§7.2, §6).
    private static var crowd: Int { 100 }
    private static var quiet: Duration { .milliseconds(750) }
    /// The longest wait for silence.
    private static var listLimit: Duration { .seconds(5) }

    private let finding: Finding
    private let interfaces: InterfaceFilter
    private let batch: FactBatch<Finding.Fact>
    private let links: LinkMonitor
    private let troubles: Troubles
    private let restart: Backoff
    private var browser: AvahiLookup?
    private var known: [Sight: Origin] = [:]
    /// Sightings of the previous browser that the current one has not reported yet.
    private var unconfirmed: Set<Sight> = []
    private var renames = InterfaceRenames()
    private let listTimer: LoopTimer
    /// When the list is complete, even without silence; nil until Avahi has reported `ALL_FOR_NOW`.
    private var listEnd: MonotonicTime?
    private var isListed = false
    private var isFull = false

    init(_ finding: Finding, on interfaces: InterfaceFilter, core: EngineCore, report: FactBatch<Finding.Fact>) {
        self.finding = finding
        self.interfaces = interfaces
        batch = report
        links = core.links
        troubles = core.troubles
        restart = Backoff(loop: core.loop)
        listTimer = LoopTimer(loop: core.loop)
        listTimer.fire = { [weak self] in self?.listed() }
    }

    func connected(_ connection: AvahiConnection) {
        clear()
        batch.add(.backend(.up))
        isListed = false
        renames = InterfaceRenames()
        browse(on: connection)
        links.listen(self) { [weak self] in self?.linksChanged(connection) }
    }

    func publishing(_ isPossible: Bool) {}

    func disconnected(_ reason: String) {
        clear()
        batch.add(.backend(.down(reason)))
    }

    func end() {
        clear()
        restart.free()
        listTimer.free()
        batch.end()
    }

    private func clear() {
        links.leave(self)
        restart.cancel()
        listTimer.deadline = nil
        listEnd = nil
        browser?.free()
        browser = nil
        known = [:]
        unconfirmed = []
        isFull = false
        finding.clear()
        troubles.forget(self)
    }

    private func browse(on connection: AvahiConnection) {
        browser?.free()
        unconfirmed = Set(known.keys)
        do throws(DiscoveryError) {
            browser = try finding.browser(on: connection) { [weak self] in self?.received($0, connection) }
        } catch {
            failed(error, connection)
        }
    }

    private func received(_ event: BrowserEvent<Finding.Key>, _ connection: AvahiConnection) {
        switch event {
        case .appeared(let key, let path): appeared(Sight(key: key, path: path))
        case .disappeared(let key, let path):
            disappeared(Sight(key: key, path: path))
            // A new browser also reports the sightings that were left out.
            if isFull, known.count < Self.maximumSightings / 8 * 7 {
                isFull = false
                troubles.note(.sightings, of: self, nil)
                browse(on: connection)
            }
        case .cacheExhausted: break
        case .allForNow:
            restart.succeeded()
            troubles.note(.browsing, of: self, nil)
            for sight in unconfirmed { disappeared(sight) }
            listEnd = listEnd ?? MonotonicTime.now + Self.listLimit
            waitForList()
        case .failed: failed(connection.lastError(during: "browsing for \(finding.subject) ended"), connection)
        }
    }

    private func appeared(_ sight: Sight) {
        unconfirmed.remove(sight)
        guard known[sight] == nil, let origin = sight.path.origin(allowedBy: interfaces) else { return }
        guard known.count < Self.maximumSightings else { return full() }
        known[sight] = origin
        waitForList()
        finding.appeared(sight.key, sight.path, at: origin, isFirst: !isSeenOverOther(sight))
    }

    private func disappeared(_ sight: Sight) {
        unconfirmed.remove(sight)
        guard let place = known.index(forKey: sight) else { return }
        let (first, origin) = known.remove(at: place)
        let isReceiving = origin.interface.map { SystemInterfaces.isReceiving($0, over: sight.path.family) } ?? true
        finding.disappeared(
            sight.key, first.path, at: origin, isLast: !isSeenOverOther(sight), isHidden: !isReceiving)
    }

    private func isSeenOverOther(_ sight: Sight) -> Bool {
        known[Sight(key: sight.key, path: sight.path.overOtherFamily)] != nil
    }

    private func waitForList() {
        guard !isListed, let listEnd else { return }
        listTimer.deadline = known.count < Self.crowd ? .now : min(.now + Self.quiet, listEnd)
    }

    private func listed() {
        listTimer.deadline = nil
        guard !isListed else { return }
        isListed = true
        batch.add(.listed)
    }

    private func full() {
        guard !isFull else { return }
        isFull = true
        tell(.sightings, "more than \(Self.maximumSightings) sightings of \(finding.subject): the rest is left out")
    }

    /// Drops sightings on renamed interfaces. A new browser reports them again, if the filter allows the new names.
    private func linksChanged(_ connection: AvahiConnection) {
        finding.linksChanged()
        let renamed = renames.sinceLast()
        guard !renamed.isEmpty, connection.isOpen else { return }
        for sight in known.keys where renamed.contains(sight.path.index) { disappeared(sight) }
        browse(on: connection)
    }

    private func failed(_ error: DiscoveryError, _ connection: AvahiConnection) {
        tell(.browsing, error.message)
        // Nothing more comes for now, so the list is complete: no one may wait forever.
        listed()
        restart.schedule { [weak self] in if connection.isOpen { self?.browse(on: connection) } }
    }

    private func tell(_ kind: Troubles.Key.Kind, _ text: String) {
        troubles.note(kind, of: self, text)
        batch.add(.degraded(text))
    }
}

/// Notices renamed interfaces, which avahi-daemon does not report. A value.
struct InterfaceRenames {
    private var names: [Int32: String]

    init(_ names: [Int32: String] = SystemInterfaces.namesByIndex()) { self.names = names }

    /// Returns the indexes of interfaces renamed since the last call, and remembers the current names.
    mutating func sinceLast(_ new: [Int32: String] = SystemInterfaces.namesByIndex()) -> Set<Int32> {
        defer { names = new }
        return Set(new.filter { index, name in names[index].map { $0 != name } ?? false }.keys)
    }
}

/// Collects an operation's facts during one turn of the loop and reports them together. Used only on the loop's thread.
final class FactBatch<Fact: Sendable> {
    private let loop: EventLoop
    private let report: ([Fact]) -> Void
    private var facts: [Fact] = []

    init(on loop: EventLoop, _ report: @escaping ([Fact]) -> Void) {
        self.loop = loop
        self.report = report
    }

    func add(_ fact: Fact) {
        facts.append(fact)
        guard facts.count == 1 else { return }
        LoopBound(to: loop, self).post { $0.flush() }
    }

    /// The operation has ended; nothing more is reported.
    func end() { facts = [] }

    private func flush() {
        guard !facts.isEmpty else { return }
        let batch = facts
        facts = []
        report(batch)
    }
}
