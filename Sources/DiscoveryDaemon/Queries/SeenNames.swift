internal import DNSSD
package import Discovery

/// The names that an operation has reported, for members that join later. A value.
package struct SeenNames {
    private var backend: EngineState?
    private var sightings: Set<Sighting> = []
    /// Seen before the operation, or its backend, started over, and not since.
    private var doubtful: Set<Sighting> = []
    /// The end of doubtful sightings must be reported: the new operation does not know of them.
    private var tellsDoubtful = false
    private var omissions: [(text: String, isTrouble: Bool)] = []
    private var isListed = false

    package init() {}

    /// Processes a fact.
    /// - Parameter troubles: the engine's current ones; evaluated only for omissions.
    /// - Returns: what to report, in order.
    package mutating func took(_ fact: BrowseFact, amid troubles: [String]) -> [BrowseFact] {
        switch fact {
        case .appeared(let sighting):
            sightings.remove(sighting.ofTheOther)
            doubtful.remove(sighting.ofTheOther)
            sightings.insert(sighting)
            doubtful.remove(sighting)
        case .disappeared(let sighting), .withdrawn(let sighting), .hidden(let sighting):
            sightings.remove(sighting)
            sightings.giveBack()
            doubtful.remove(sighting)
        case .listed:
            isListed = true
            defer { (doubtful, tellsDoubtful) = ([], false) }
            sightings.subtract(doubtful)
            return (tellsDoubtful ? doubtful.map { .disappeared($0) } : []) + [fact]
        case .backend(let new):
            // A new operation first repeats the known state.
            guard new != backend else { return [] }
            // It lists again; what it does not repeat is gone, as every member knows.
            if new == .up { (doubtful, omissions, isListed) = (sightings, [], false) }
            backend = new
        case .degraded(let text):
            omissions.removeAll { $0.text == text }
            omissions.append((text, troubles.contains(text)))
        case .resolved, .resolutionFailed: break
        }
        return [fact]
    }

    /// Another operation begins: what it does not see until it has listed is gone.
    package mutating func doubtAll() {
        (doubtful, tellsDoubtful) = (sightings, true)
        isListed = false
    }

    /// The facts for a new member; from a backend that is away, what it knew before.
    /// - Parameter troubles: of the engine, now: a notice about a trouble that is over is dropped.
    package func summary(amid troubles: [String]) -> [BrowseFact] {
        guard let backend else { return [] }
        guard backend == .up || !sightings.isEmpty else { return [.backend(backend)] }
        var facts: [BrowseFact] = [.backend(.up)] + sightings.map { .appeared($0) }
        facts += omissions.filter { !$0.isTrouble || troubles.contains($0.text) }.map { .degraded($0.text) }
        // While it is away it is unknown whether that is all.
        guard backend == .up else { return facts + [.backend(backend)] }
        return isListed ? facts + [.listed] : facts
    }
}

extension Sighting {
    /// The same, said by another machine, or by this one: it is one sighting whose origin became clear.
    fileprivate var ofTheOther: Sighting {
        Sighting(instance: instance, origin: origin, family: family, isOwn: !isOwn)
    }
}
