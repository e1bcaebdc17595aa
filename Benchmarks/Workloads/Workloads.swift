import AvahiEngine
import DNSSD
import Discovery
import DiscoveryJSON

/// Work inside the library that the package in Benchmarks/ measures: what it uses is visible only within this package.
///
/// Preparation is not measured.
public protocol Workload: Sendable {
    /// Does the work once; returns a value that depends on it, so that the optimiser cannot drop it.
    func run() async -> Int
}

/// Feeds an engine's facts into a `Catalog`: every service sighted, the list ended, every service resolved.
public struct CatalogWorkload: Workload {
    private let story: Samples.Story

    /// Prepares this many services.
    public init(services: Int) throws { story = try Samples.Story(services: services) }

    /// The number of services found.
    public func run() -> Int {
        var catalog = story.empty
        for fact in story.facts { _ = catalog.apply(fact, now: .zero) }
        return catalog.snapshot.count
    }
}

/// Every service comes and goes ten times before its subscriber looks, and once more while it looks.
public struct ChurnWorkload: Workload {
    private let services: [DiscoveredService]

    /// Prepares this many services.
    public init(services: Int) throws { self.services = try Samples.services(services) }

    /// The number of changes reported.
    public func run() -> Int {
        var (log, reader) = (ChangeLog<DiscoveredService>(endLimit: 64), LogFollower<DiscoveredService>())
        for round in 0..<20 {
            for service in services { log.apply(round.isMultiple(of: 2) ? .found(service) : .lost(service)) }
        }
        var told = 0
        for service in services {
            log.apply(.found(service))
            told += reader.take(from: log, atMost: 1).count
        }
        return told
    }
}

/// Parses the strings of a TXT record into entries.
public struct TXTWorkload: Workload {
    private let strings = Samples.strings

    /// Nothing to prepare.
    public init() {}

    /// The number of entries.
    public func run() -> Int { TXTRecord(strings: strings).entries.count }
}

/// Makes a name from the network safe for a terminal.
public struct EscapeWorkload: Workload {
    private let name = "Büro \u{1B}[2J \u{202E} \u{200B}östlich \\u{1B} ☃\u{FE0F}"

    /// Nothing to prepare.
    public init() {}

    /// The length of the result.
    public func run() -> Int { name.escapedForTerminal.utf8.count }
}

/// One job on Avahi's thread, from a task and back.
public struct LoopHopWorkload: Workload {
    private let engine: AvahiEngine

    /// Starts the engine's thread; no avahi-daemon is involved.
    public init() throws { engine = try AvahiEngine() }

    /// The number of Avahi objects: none.
    public func run() async -> Int { await engine.openObjects }
}

/// Services as one JSON array, as the control socket sends them.
public struct JSONWorkload: Workload {
    private let services: [DiscoveredService]

    /// Prepares this many services.
    public init(services: Int) throws { self.services = try Samples.services(services) }

    /// The number of bytes.
    public func run() -> Int {
        var writer = JSONWriter()
        writer.array { array in
            for service in services { array.service(service, detail: .full) }
        }
        return writer.bytes.count
    }
}

/// Everything within the process of `browse -r --json`: an engine's facts, a subscriber's events, lines of JSON.
public struct WholePathWorkload: Workload {
    private let story: Samples.Story

    /// Prepares this many services.
    public init(services: Int) throws { story = try Samples.Story(services: services) }

    /// The number of bytes.
    public func run() -> Int {
        var (catalog, writer) = (story.empty, JSONWriter())
        var (log, reader) = (ChangeLog<DiscoveredService>(endLimit: 64), LogFollower<DiscoveredService>())
        var written = 0
        for fact in story.facts {
            for change in catalog.apply(fact, now: .zero) { log.apply(change) }
            for change in reader.take(from: log, atMost: .max) { writer.line(change, detail: .full) }
            written += writer.bytes.count
            writer.removeAll()
        }
        return written
    }
}

/// How much the whole path grows from this many services to four times as many. Both are timed within milliseconds of each other and for
/// about as long, so that changes in the machine's speed affect both.
public struct GrowthWorkload: Sendable {
    private let few: WholePathWorkload
    private let many: WholePathWorkload

    /// Prepares this many services, and four times as many.
    public init(services: Int) throws {
        few = try WholePathWorkload(services: services)
        many = try WholePathWorkload(services: 4 * services)
    }

    /// How many times longer the larger number takes, in thousandths.
    public func thousandths() -> Int {
        var written = 0
        let manyTake = ContinuousClock().measure { written += many.run() }
        let fewTake = ContinuousClock().measure { for _ in 0..<4 { written += few.run() } }
        // Uses the output, so that the optimiser keeps it.
        return written > 0 ? Int(4_000 * (manyTake / fewTake)) : 0
    }
}
