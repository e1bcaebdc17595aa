package import Discovery

/// What the wire says of one name and, while it is silent, avahi-daemon's cache, as one sequence of facts. A value.
///
/// avahi-daemon names one address of each family: its answer is one of several, and no end of the list. Who dials begins with
/// it; who wants the whole answer once waits for the wire as long as a responder may be silent.
package struct NamedAnswers: Sendable {
    /// How long the wire's answer may take: a responder that has just spoken is silent for a second (RFC 6762 §6), and is
    /// asked again then.
    package static let patience = Duration.milliseconds(1300)

    /// Whose answer counts.
    private enum Source {
        /// The wire may still answer, and avahi-daemon's answer is not enough.
        case awaited
        /// The wire was given its time: avahi-daemon's, until the wire has one.
        case second
        /// The wire's.
        case wire
    }

    private let resolution: ServiceQuery.Resolution
    private var source: Source
    /// One of them has said that this is all.
    private var isListed = false
    /// What avahi-daemon said last.
    private var known: [Sighting: Resolution] = [:]
    /// Sightings reported only by avahi-daemon.
    private var said: Set<Sighting> = []

    package init(_ resolution: ServiceQuery.Resolution) {
        self.resolution = resolution
        source = resolution == .once ? .awaited : .second
    }

    /// Whether the wire has answered.
    package var isWireHeard: Bool { source == .wire }

    /// Takes the wire's facts. Its first answer replaces avahi-daemon's there.
    package mutating func wireSaid(_ facts: [BrowseFact]) -> [BrowseFact] {
        let news = isListed ? facts.filter { $0 != .listed } : facts
        isListed = isListed || facts.contains(.listed)
        guard source != .wire, facts.contains(where: { $0.sighting != nil }) else { return news }
        source = .wire
        let places = Set(facts.compactMap { $0.sighting?.origin })
        defer { (said, known) = ([], [:]) }
        return news + said.filter { !places.contains($0.origin) }.map { .disappeared($0) }
    }

    /// Takes what avahi-daemon has now.
    package mutating func secondSaid(_ found: [Sighting: Resolution]) -> [BrowseFact] {
        guard source != .wire else { return [] }
        known = found
        return source == .second ? tellSecond() : []
    }

    /// The wire has had `patience`.
    package mutating func wireWasSilent() -> [BrowseFact] {
        guard source == .awaited else { return [] }
        source = .second
        return tellSecond()
    }

    /// Adds what only avahi-daemon knows, and takes back what it knows no more.
    private mutating func tellSecond() -> [BrowseFact] {
        var news = said.filter { known[$0] == nil }.map { BrowseFact.disappeared($0) }
        for (sighting, resolution) in known {
            if !said.contains(sighting) { news.append(.appeared(sighting)) }
            if self.resolution != .none { news.append(.resolved(resolution)) }
        }
        said = Set(known.keys)
        // Who follows the name is told by the wire that it is all.
        if !said.isEmpty, !isListed, resolution != .watch {
            isListed = true
            news.append(.listed)
        }
        return news
    }
}

extension BrowseFact {
    fileprivate var sighting: Sighting? { if case .appeared(let sighting) = self { sighting } else { nil } }
}
