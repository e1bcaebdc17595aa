import DNSSD
import Discovery
import DiscoveryJSON

/// Turns the daemon's reports of types or domains into appearances and disappearances at each origin.
struct RemotePresence<Key: Hashable & Sendable>: Sendable {
    private var backend: EngineState?
    private var isSettled = false
    private var known: [Key: [Origin]] = [:]
    private var stale: [Key: [Origin]] = [:]

    mutating func received(_ line: PresenceLine<Key>) -> [PresenceFact<Key>] {
        switch line {
        case .added(let key, let interfaces):
            let origins: [Origin] = interfaces.isEmpty ? [.unicast] : interfaces.map { .link($0) }
            stale[key] = nil
            known[key] = origins
            return up() + origins.map { .appeared(key, $0) }
        case .removed(let key):
            let origins = known.removeValue(forKey: key) ?? []
            return up() + origins.map { .disappeared(key, $0) }
        case .settled:
            defer { (stale, isSettled) = ([:], true) }
            return up() + stale.flatMap { key, origins in origins.map { .disappeared(key, $0) } } + [.listed]
        case .backend(let state): return state.reason.map { down($0) } ?? up()
        case .degraded(let reason): return up() + [.degraded(reason)]
        case .unknown: return []
        }
    }

    mutating func disconnected(_ reason: String) -> [PresenceFact<Key>] {
        stale.merge(known) { $1 }
        known = [:]
        isSettled = false
        return down(reason)
    }

    private mutating func up() -> [PresenceFact<Key>] {
        defer { backend = .up }
        switch backend {
        case .up: return []
        case nil: return [.backend(.up)]
        case .down, .idle:
            // The daemon reports only changes.
            let again = known.flatMap { key, origins in origins.map { PresenceFact.appeared(key, $0) } }
            return [.backend(.up)] + again + (isSettled ? [.listed] : [])
        }
    }

    private mutating func down(_ reason: String) -> [PresenceFact<Key>] {
        if case .down = backend { return [] }
        backend = .down(reason)
        return [.backend(.down(reason))]
    }
}
