#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// The sink of `browse`: prints events until there is enough.
///
/// With a listing, a service is printed on one line as soon as everything about it is known; intermediate states are not shown.
struct ServiceLines: ServiceSink {
    let session: Session
    let printer: ServicePrinter
    let query: BrowseQuery
    let count: Int?
    /// Runs for each event that is shown.
    private let program: EventProgram?
    /// Events of the batch for which the program has yet to run.
    private var shown: [ServiceEvent] = []

    private let start = ContinuousClock.now
    /// Services found so far, each counted once; at most `count` of them, or one without a count. A listing counts its own.
    private var found: Set<ServiceInstance> = []
    /// Collects the services; only with `--once`.
    private var listing: OnceListing?

    init(
        session: Session, printer: ServicePrinter, query: BrowseQuery, listing: OnceListing?, count: Int?,
        program: EventProgram?
    ) {
        (self.session, self.printer, self.query) = (session, printer, query)
        (self.listing, self.count, self.program) = (listing, count, program)
    }

    private var total: Int { listing?.count ?? found.count }
    var isEmpty: Bool { total == 0 }
    var isEnough: Bool { total >= (count ?? 1) }

    mutating func take(_ events: [ServiceEvent]) async throws -> ExitStatus? {
        let isOver = try events.contains { try handle($0) }
        if isOver { try showListing() }
        try session.output.flush()
        await runProgram()
        return isOver ? (isEnough ? .done : .notFound) : nil
    }

    mutating func end() async throws {
        try showListing()
        try session.output.flush()
        await runProgram()
    }

    /// Tells why there may be more than was printed.
    func wasCutShort(_ reason: String) throws {
        session.notices.degraded(reason)
        try printer.show(.degraded(reason))
        try session.output.flush()
    }

    /// - Returns: whether the command is done.
    private mutating func handle(_ event: ServiceEvent) throws -> Bool {
        switch event {
        case .found(let service):
            try show(event, of: service)
            if listing == nil, !isEnough { found.insert(service.instance) }
            return count != nil && isEnough
        case .changed(let service):
            try show(event, of: service)
        case .lost(let service):
            if listing == nil { try show(event) } else { listing?.ended(service) }
        case .settled:
            let seconds = (ContinuousClock.now - start).inSeconds
            session.notices.detail("the list was complete after \(seconds) s; what comes later is news")
            try showListing()
            try printer.show(event)
            if listing == nil, found.isEmpty { session.tellWaiting(for: query) }
            return listing != nil
        case .backend(let state):
            try session.show(state)
        case .degraded(let reason):
            session.notices.degraded(reason)
            try printer.show(event)
        }
        return false
    }

    private mutating func show(_ event: ServiceEvent, of service: DiscoveredService) throws {
        guard listing != nil else { return try show(event) }
        if listing?.became(service) == true { try show(.found(service)) }
    }

    private mutating func show(_ event: ServiceEvent) throws {
        try printer.show(event)
        if program != nil { shown.append(event) }
    }

    /// While the program runs, no more of a stream is taken: what happens meanwhile is merged there, and nothing piles up.
    private mutating func runProgram() async {
        guard let program else { return }
        defer { shown = [] }
        for event in shown where !session.stop.isRequested { await program.run(for: event) }
    }

    private mutating func showListing() throws {
        for service in listing?.take() ?? [] { try show(.found(service)) }
    }
}

/// Services that are each shown once: when fully known, or else in whatever state they are at the end.
struct OnceListing {
    /// A service is resolved before it is shown.
    let resolves: Bool
    /// How many links are asked. A service that was not seen on all of them may be in a moment.
    private let links: Int
    /// Nothing is shown before the end, when all of it is in this order.
    private let order: ListOrder?
    private var shown: Set<ServiceInstance> = []
    private var incomplete: [ServiceInstance: (number: Int, service: DiscoveredService)] = [:]
    private var lastNumber = 0

    init(resolves: Bool, links: Int, order: ListOrder? = nil) {
        (self.resolves, self.links, self.order) = (resolves, links, order)
    }

    /// How many there are: shown, or still to be.
    var count: Int { shown.count + incomplete.count }

    /// - Returns: whether to show it now.
    mutating func became(_ service: DiscoveredService) -> Bool {
        guard !shown.contains(service.instance) else { return false }
        // What a DNS server says is on no link.
        let isAwaited = service.instance.domain == .local && service.interfaces.count < links
        guard order != nil || resolves && service.state != .resolved || isAwaited else {
            incomplete[service.instance] = nil
            shown.insert(service.instance)
            return true
        }
        lastNumber += 1
        incomplete[service.instance] = (incomplete[service.instance]?.number ?? lastNumber, service)
        return false
    }

    /// One that was not shown yet never will be.
    mutating func ended(_ service: DiscoveredService) { incomplete[service.instance] = nil }

    /// Takes the services that were not shown yet, in the order asked for, or else in the order found.
    mutating func take() -> [DiscoveredService] {
        defer { incomplete = [:] }
        shown.formUnion(incomplete.keys)
        let found = incomplete.values.sorted { $0.number < $1.number }.map(\.service)
        guard let order else { return found }
        return found.map { (ListKey($0, by: order), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// The order of a list of services.
enum ListOrder: String, CaseIterable, ExpressibleByArgument {
    case name, type, host
}

/// The place of a service in an order; two services never have the same.
struct ListKey: Comparable {
    private let text: String

    /// People look for a name whatever its case.
    init(_ service: DiscoveredService, by order: ListOrder) {
        let instance = service.instance
        let name = "\(instance.name.text.lowercased())\u{0}\(instance.fullName)"
        text =
            switch order {
            case .name: name
            case .type: "\(instance.type.description.lowercased())\u{0}\(name)"
            case .host: "\(service.host?.description.lowercased() ?? "")\u{0}\(name)"
            }
    }

    /// Byte for byte: as text, two names may be the same to people and differ on the network.
    static func == (one: ListKey, other: ListKey) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: ListKey, other: ListKey) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }
}
#endif
