import DNSSD
import Discovery

/// One publication that goes from one publisher to another without an end for those who see it. A value: told who is to publish, and what came of it,
/// it says which operations begin and end.
///
/// What has a service keeps it until the next one has it, too, and then ends without goodbyes. Where the first is gone, the next one begins without
/// probing: nobody else had the name a moment ago.
struct PublicationRelay {
    typealias Publisher = PublisherSelection.Publisher

    enum Action: Equatable {
        /// Publish under this name; where it was established before, without probing.
        case begin(Publisher, as: ServiceName, isProven: Bool)
        /// End; `isSaid`: with goodbyes.
        case end(Publisher, isSaid: Bool)
        case report(PublicationFact)
        /// Call `retryIsDue` after this time.
        case retry(after: Duration)
    }

    /// How the active publisher has the service.
    private enum Standing {
        /// It has not said yet.
        case begun
        /// As the one before had it, established: begun without probing. That it is being registered is no news.
        case takenOver
        case reported(PublicationFact.State)

        var isEstablished: Bool {
            switch self {
            case .begun: false
            case .takenOver: true
            case .reported(let state): state == .established
            }
        }

        /// Nothing more will be said of it.
        var isFinal: Bool { if case .reported(let state) = self { state.isFinal } else { false } }
    }

    /// When what refused a service is asked again.
    static let pause = Duration.seconds(30)

    /// The publisher whose facts count.
    private(set) var active: Publisher?
    /// The one that is to have the service next.
    private(set) var next: Publisher?
    private var wanted: Publisher?
    /// The hosts of both have the same name, so their records are equal.
    private var isSameHost = true
    private var name: ServiceName
    private var standing = Standing.begun
    private var reported: PublicationFact?
    /// It has been established once.
    private(set) var wasEstablished = false

    init(name: ServiceName) { self.name = name }

    /// Nothing can publish.
    mutating func nobodyPublishes(_ reason: String) -> [Action] {
        guard active == nil, !standing.isFinal else { return [] }
        return report(PublicationFact(name: name, state: .waiting(reason)))
    }

    /// - Parameter isSameHost: the hosts of both publishers have the same name.
    mutating func choose(_ publisher: Publisher, isSameHost: Bool) -> [Action] {
        guard !standing.isFinal else { return [] }
        (wanted, self.isSameHost) = (publisher, isSameHost)
        guard let active else { return begin(publisher, isProven: false) }
        if active == publisher {
            defer { next = nil }
            return next.map { [.end($0, isSaid: true)] } ?? []
        }
        guard publisher == .avahi else {
            // avahi-daemon is gone, and what it had.
            let isProven = standing.isEstablished && isSameHost
            return [.end(.avahi, isSaid: false)] + begin(.wire, isProven: isProven)
        }
        return hasten()
    }

    private mutating func begin(_ publisher: Publisher, isProven: Bool) -> [Action] {
        (active, next, standing) = (publisher, nil, isProven ? .takenOver : .begun)
        return [.begin(publisher, as: name, isProven: isProven)]
    }

    /// Has avahi-daemon take the service, where that does not disturb what goes on.
    private mutating func hasten() -> [Action] {
        guard wanted == .avahi, active == .wire, next == nil else { return [] }
        if case .reported(.registering) = standing { return [] }
        guard standing.isEstablished, isSameHost else {
            // Nothing is told of it, or other records: avahi-daemon would take those for another host's.
            return [.end(.wire, isSaid: false)] + begin(.avahi, isProven: false)
        }
        next = .avahi
        return [.begin(.avahi, as: name, isProven: false)]
    }

    /// Takes what one of them reports.
    mutating func heard(_ fact: PublicationFact, from publisher: Publisher) -> [Action] {
        guard !standing.isFinal else { return [] }
        if publisher == active { return activeHeard(fact) }
        return publisher == next ? nextHeard(fact, publisher) : []
    }

    private mutating func activeHeard(_ fact: PublicationFact) -> [Action] {
        if case .takenOver = standing, fact == PublicationFact(name: name, state: .registering) { return [] }
        let (isOther, isOver) = (fact.name != name, fact.state.isFinal)
        (name, standing) = (fact.name, .reported(fact.state))
        if fact.state == .established { wasEstablished = true }
        var actions: [Action] = []
        if let next, isOver || isOther {
            actions.append(.end(next, isSaid: true))
            self.next = nil
        }
        return actions + report(fact) + (isOver ? [] : hasten())
    }

    private mutating func nextHeard(_ fact: PublicationFact, _ publisher: Publisher) -> [Action] {
        switch fact.state {
        case .registering where fact.name == name, .waiting: return []
        case .established where fact.name == name:
            guard let before = active else { return [] }
            (active, next, standing) = (publisher, nil, .reported(.established))
            return [.end(before, isSaid: false)] + report(fact)
        default:
            // It is refused, or would get another name: it stays where it is.
            next = nil
            return [.end(publisher, isSaid: true), .retry(after: Self.pause)]
        }
    }

    mutating func retryIsDue() -> [Action] { standing.isFinal ? [] : hasten() }

    private mutating func report(_ fact: PublicationFact) -> [Action] {
        guard fact != reported else { return [] }
        reported = fact
        return [.report(fact)]
    }
}
