internal import DNSSD
package import Discovery

/// What an operation has reported of names, for who comes later. A value.
package struct SeenNames {
    private var backend: EngineState?
    private var sightings: Set<Sighting> = []
    /// Seen before the operation, or its backend, began anew, and not since.
    private var doubtful: Set<Sighting> = []
    /// Whoever is told must be told that they are gone: this operation does not know of them.
    private var tellsDoubtful = false
    private var omissions: [(text: String, isTrouble: Bool)] = []
    private var isListed = false

    package init() {}

    /// Takes note of a fact.
    /// - Parameter troubles: of the engine, now; only for what is left out.
    /// - Returns: what to tell, in order.
    package mutating func took(_ fact: BrowseFact, amid troubles: [String]) -> [BrowseFact] {
        switch fact {
        case .appeared(let sighting):
            sightings.insert(sighting)
            doubtful.remove(sighting)
        case .disappeared(let sighting), .hidden(let sighting):
            sightings.remove(sighting)
            doubtful.remove(sighting)
        case .listed:
            isListed = true
            defer { (doubtful, tellsDoubtful) = ([], false) }
            sightings.subtract(doubtful)
            return (tellsDoubtful ? doubtful.map { .disappeared($0) } : []) + [fact]
        case .backend(let new):
            // Another operation says first what is known.
            guard new != backend else { return [] }
            // It lists anew; what it does not repeat is gone, as everybody knows.
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

    /// What one who knows nothing is told; of a backend that is away, what it knew before.
    /// - Parameter troubles: of the engine, now: what was left out because of one that is over is not any more.
    package func summary(amid troubles: [String]) -> [BrowseFact] {
        guard let backend else { return [] }
        guard backend == .up || !sightings.isEmpty else { return [.backend(backend)] }
        var facts: [BrowseFact] = [.backend(.up)] + sightings.map { .appeared($0) }
        facts += omissions.filter { !$0.isTrouble || troubles.contains($0.text) }.map { .degraded($0.text) }
        // Nobody knows whether that is all while it is away.
        guard backend == .up else { return facts + [.backend(backend)] }
        return isListed ? facts + [.listed] : facts
    }
}
