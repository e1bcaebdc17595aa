internal import DNSSD

/// Turns what the daemon tells of types or domains into what appeared and disappeared on which interface.
struct RemotePresence<Value: Hashable & Sendable>: Sendable {
    enum Fact {
        case appeared(Value, NetworkInterface?)
        case disappeared(Value, NetworkInterface?)
        case listed
        case backend(BackendState)
        case degraded(String)
    }

    private var isUp = false
    private var wasUp = false
    private var isSettled = false
    private var known: [Value: [NetworkInterface?]] = [:]
    private var stale: [Value: [NetworkInterface?]] = [:]

    mutating func received(_ line: PresenceLine<Value>) -> [Fact] {
        switch line {
        case .added(let value, let interfaces):
            let paths: [NetworkInterface?] = interfaces.isEmpty ? [nil] : interfaces
            stale[value] = nil
            known[value] = paths
            return up() + paths.map { .appeared(value, $0) }
        case .removed(let value):
            let paths = known.removeValue(forKey: value) ?? []
            return up() + paths.map { .disappeared(value, $0) }
        case .settled:
            defer { (stale, isSettled) = ([:], true) }
            return up() + stale.flatMap { value, paths in paths.map { .disappeared(value, $0) } } + [.listed]
        case .backend(.available), .backend(.recovered): return up()
        case .backend(.unavailable(let reason)), .backend(.lost(let reason)): return down(reason)
        case .degraded(let reason): return up() + [.degraded(reason)]
        case .unknown: return []
        }
    }

    mutating func disconnected(_ reason: String) -> [Fact] {
        stale.merge(known) { $1 }
        known = [:]
        isSettled = false
        return down(reason)
    }

    private mutating func up() -> [Fact] {
        defer { (isUp, wasUp) = (true, true) }
        if isUp { return [] }
        guard wasUp else { return [.backend(.available)] }
        // The daemon tells again only what has changed.
        let again = known.flatMap { value, paths in paths.map { Fact.appeared(value, $0) } }
        return [.backend(.recovered)] + again + (isSettled ? [.listed] : [])
    }

    private mutating func down(_ reason: String) -> [Fact] {
        defer { isUp = false }
        if wasUp { return isUp ? [.backend(.lost(reason))] : [] }
        return [.backend(.unavailable(reason))]
    }
}
