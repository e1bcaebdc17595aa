import DNSMessage
import DNSSD
import Discovery
import DiscoverySystem
import Records

/// Puts a query to avahi-daemon: a graph for each interface, and one list for all.
///
/// A list has a browser, which stays open and sees all interfaces. One that fails is replaced, and what the new one does not report again is
/// gone. What is asked for by name has none, and is looked at on every interface at once.
final class AvahiBrowse<Graph: RecordGraph>: CoreOperation {
    typealias MakeBrowser = (AvahiConnection, @escaping (BrowserEvent) -> Void) throws(DiscoveryError) -> AvahiLookup

    private final class Part {
        var graph: Graph
        var records: AvahiRecords

        init(_ graph: Graph, _ records: AvahiRecords) { (self.graph, self.records) = (graph, records) }

        var deadline: MonotonicTime? { graph.deadline.map { MonotonicTime(microseconds: $0.wholeMicroseconds) } }
    }

    private struct Sight: Hashable {
        let name: DomainName
        let path: AvahiPath
    }

    /// The number of sightings from which answers to Avahi's first question may be lost. Avahi asks again a second
    /// later (RFC 6762 §5.2), and answers arrive within 620 ms (§7.2, §6).
    private static var crowd: Int { 100 }
    private static var quiet: Duration { .milliseconds(750) }
    /// The longest wait for silence.
    private static var listLimit: Duration { .seconds(5) }
    /// How long other interfaces may lag behind the first that answered, when resolving one name.
    private static var grace: Duration { .milliseconds(250) }
    /// The number of services that fills avahi-daemon's cache on one interface over one family if each has its own
    /// host: the cache takes 4096 records (`cache-entries-max` of avahi-daemon.conf(5)), four per service, and silently
    /// drops the rest.
    private static var fullCache: Int { 4_096 / 4 * 95 / 100 }

    private let subject: String
    private let interfaces: InterfaceFilter
    private let family: IPAddress.Family?
    private let make: (Origin) -> Graph?
    /// Nil for what is asked for by name.
    private let makeBrowser: MakeBrowser?
    private let batch: FactBatch<Graph.Fact>
    private let links: LinkMonitor
    private let lines: LookLines
    private let troubles: Troubles
    private let restart: Backoff
    private let listTimer: LoopTimer
    private let graphTimer: LoopTimer
    private var browser: AvahiLookup?
    private var parts: [NetworkInterface: Part] = [:]
    /// Sightings of the previous browser that the current one has not reported yet.
    private var unconfirmed: Set<Sight> = []
    /// The number of names seen on each path, except this machine's own, which Avahi's cache does not hold.
    private var counts: [AvahiPath: Int] = [:]
    private var sightings = 0
    private var renames = InterfaceRenames()
    private var listing = Listing.open

    private enum Listing: Equatable {
        case open
        /// It is complete then, even without silence.
        case ends(MonotonicTime)
        case listed
    }

    /// - Parameters:
    ///   - subject: a plural noun, or a name, for messages.
    ///   - make: creates the graph of an interface; nil if it cannot be asked for.
    ///   - makeBrowser: makes the list's browser; nil for what is asked for by name.
    init(
        _ subject: String, on interfaces: InterfaceFilter, over family: IPAddress.Family?, core: EngineCore,
        report: FactBatch<Graph.Fact>, make: @escaping (Origin) -> Graph?, makeBrowser: MakeBrowser?
    ) {
        (self.subject, self.interfaces, self.family) = (subject, interfaces, family)
        (self.make, self.makeBrowser, batch) = (make, makeBrowser, report)
        (links, lines, troubles) = (core.links, core.lines, core.troubles)
        restart = Backoff(loop: core.loop)
        listTimer = LoopTimer(loop: core.loop)
        graphTimer = LoopTimer(loop: core.loop)
        listTimer.fire = { [weak self] in self?.listed() }
        graphTimer.fire = { [weak self] in self?.advance() }
    }

    func connected(_ connection: AvahiConnection) {
        clear()
        batch.add(.backend(.up))
        listing = .open
        renames = InterfaceRenames()
        if makeBrowser == nil { ask(connection) } else { browse(on: connection) }
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
        graphTimer.free()
        batch.end()
    }

    private func clear() {
        links.leave(self)
        restart.cancel()
        listTimer.deadline = nil
        graphTimer.deadline = nil
        browser?.free()
        browser = nil
        for part in parts.values { part.records.cancel() }
        (parts, unconfirmed, counts, sightings) = ([:], [], [:], 0)
        troubles.forget(self)
    }

    // MARK: Parts

    private var now: Duration { .microseconds(MonotonicTime.now.microseconds) }

    private func part(on interface: NetworkInterface, _ connection: AvahiConnection) -> Part? {
        if let part = parts[interface] { return part }
        guard let graph = make(.link(interface)) else { return nil }
        let path = AvahiRecords.Path(
            interface: interface, families: family.map { [$0] } ?? IPAddress.Family.allCases)
        let records = AvahiRecords(on: path, connection, lines) { [weak self] keys in
            guard let self, let part = parts[interface] else { return }
            work(part) {
                for key in keys { $0.touched(key) }
                $0.evaluate(&$1, at: self.now)
            }
            settleNames()
        }
        let part = Part(graph, records)
        parts[interface] = part
        work(part) { $0.begin(&$1, at: self.now) }
        return part
    }

    private func work(_ part: Part, _ body: (inout Graph, inout AvahiRecords) -> Void) {
        body(&part.graph, &part.records)
        batch.add(part.graph.takeFacts())
        part.records.lookAtFresh()
        // One that leaves nothing out has none.
        guard let deadline = part.deadline else { return }
        graphTimer.deadline = min(graphTimer.deadline ?? deadline, deadline)
    }

    private func advance() { for part in Array(parts.values) { work(part) { $0.advance(to: self.now, &$1) } } }

    private func linksChanged(_ connection: AvahiConnection) {
        // The addresses of any host may have changed: fifty looks a second.
        for part in parts.values { part.records.lookAgain(.milliseconds(makeBrowser == nil ? 0 : 20)) }
        guard connection.isOpen else { return }
        if makeBrowser == nil { return ask(connection) }
        let renamed = renames.sinceLast()
        guard !renamed.isEmpty else { return }
        for sight in sights where renamed.contains(sight.path.index) { disappeared(sight) }
        // Reports them again, if the filter allows the new names.
        browse(on: connection)
    }

    // MARK: A list

    private func browse(on connection: AvahiConnection) {
        browser?.free()
        unconfirmed = Set(sights)
        do throws(DiscoveryError) {
            browser = try makeBrowser?(connection) { [weak self] in self?.received($0, connection) }
        } catch {
            failed(error, connection)
        }
    }

    private var sights: [Sight] {
        parts.values.flatMap { $0.records.sights.map { Sight(name: $0.name, path: $0.path) } }
    }

    private func received(_ event: BrowserEvent, _ connection: AvahiConnection) {
        switch event {
        case .appeared(.ptr(let name), let path): appeared(Sight(name: name, path: path), connection)
        case .disappeared(.ptr(let name), let path): disappeared(Sight(name: name, path: path))
        case .appeared, .disappeared, .cacheExhausted: break
        case .allForNow:
            restart.succeeded()
            troubles.note(.browsing, of: self, nil)
            for sight in unconfirmed { disappeared(sight) }
            if listing == .open { listing = .ends(.now + Self.listLimit) }
            waitForList()
        case .failed: failed(connection.lastError(during: "browsing for \(subject) ended"), connection)
        }
    }

    private func appeared(_ sight: Sight, _ connection: AvahiConnection) {
        unconfirmed.remove(sight)
        guard let interface = sight.path.interface(allowedBy: interfaces), let part = part(on: interface, connection),
            let isFirst = part.records.listed(sight.name, sight.path)
        else { return }
        sightings += 1
        waitForList()
        if isFirst { changed(sight.name, isAdded: true, of: part) }
        if !sight.path.isLocal { count(1, on: sight.path, interface) }
    }

    private func disappeared(_ sight: Sight) {
        unconfirmed.remove(sight)
        // The interface may have gone, or have another name.
        guard let (interface, part) = parts.first(where: { Int32($0.key.index) == sight.path.index }),
            let (path, isLast) = part.records.delisted(sight.name, sight.path.family)
        else { return }
        sightings -= 1
        if isLast { changed(sight.name, isAdded: false, of: part) }
        if !path.isLocal { count(-1, on: path, interface) }
        guard part.records.isListEmpty else { return }
        // An index may get another name.
        part.records.cancel()
        parts[interface] = nil
    }

    private func changed(_ name: DomainName, isAdded: Bool, of part: Part) {
        work(part) {
            $0.changed($0.key, .ptr(name), isAdded: isAdded, &$1, at: now)
            $0.evaluate(&$1, at: now)
        }
    }

    private func count(_ difference: Int, on path: AvahiPath, _ interface: NetworkInterface) {
        let before = counts[path, default: 0]
        counts[path] = before + difference
        guard before + max(0, difference) == Self.fullCache else { return }
        guard difference > 0 else { return troubles.note(.cache(path), of: self, nil) }
        let family = path.family == .ipv4 ? "IPv4" : "IPv6"
        tell(
            .cache(path),
            "results may be incomplete: with \(Self.fullCache) \(subject) on \(interface.name) (\(family)) "
                + "avahi-daemon's cache may be full; "
                + "raise cache-entries-max in avahi-daemon.conf")
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

    private func waitForList() {
        guard case .ends(let end) = listing else { return }
        listTimer.deadline = sightings < Self.crowd ? .now : min(.now + Self.quiet, end)
    }

    private func listed() {
        listTimer.deadline = nil
        guard listing != .listed else { return }
        listing = .listed
        batch.add(.listed)
    }

    // MARK: By name

    /// Asks on the interfaces that are usable now, and stops on those that are not.
    private func ask(_ connection: AvahiConnection) {
        let usable = SystemInterfaces.usable(by: interfaces).filter {
            family == nil || $0.families.contains { $0 == family }
        }
        .map(\.interface)
        for (interface, part) in parts where !usable.contains(interface) {
            parts[interface] = nil
            part.graph.hide()
            batch.add(part.graph.takeFacts())
            part.records.cancel()
        }
        for interface in usable { _ = part(on: interface, connection) }
        settleNames()
    }

    /// Reports `listed` once every interface has answered, or a moment after the first.
    private func settleNames() {
        guard makeBrowser == nil, listing == .open else { return }
        let open = parts.values.filter {
            !$0.graph.hasAnswer && !$0.graph.isFailing && $0.records.standing($0.graph.key) != .denied
        }
        guard !open.isEmpty else { return listed() }
        guard listTimer.deadline == nil, parts.values.contains(where: \.graph.hasAnswer) else { return }
        listTimer.set(after: Self.grace)
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

    func add(_ fact: Fact) { add([fact]) }

    func add(_ new: [Fact]) {
        guard !new.isEmpty else { return }
        let isFirst = facts.isEmpty
        facts += new
        if isFirst { LoopBound(to: loop, self).post { $0.flush() } }
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
