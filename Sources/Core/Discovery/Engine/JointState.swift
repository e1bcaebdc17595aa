package import DNSSD

/// The states of several engines as one: up while all are, and idle while none is down and one is idle.
struct JointState {
    private var states: [EngineState?]
    private var told: EngineState?

    init(count: Int) { states = Array(repeating: nil, count: count) }

    /// Takes in the state of one engine.
    /// - Returns: the state to report; nil if it has not changed, or if all that have reported are up and one has not.
    mutating func became(_ state: EngineState, at index: Int) -> EngineState? {
        states[index] = state
        let reasons = states.compactMap { $0?.reason }
        let joint: EngineState
        if !reasons.isEmpty {
            let text = reasons.joined(separator: "; ")
            joint = states.contains { $0?.isDown == true } ? .down(text) : .idle(text)
        } else if states.contains(nil) {
            return nil
        } else {
            joint = .up
        }
        guard joint != told else { return nil }
        told = joint
        return joint
    }
}

extension EngineState {
    fileprivate var isDown: Bool { if case .down = self { true } else { false } }
}

/// The lists of several finders as one: up while any finder is, and listed once each finder that is up has listed.
struct JointList<Key: Hashable & Sendable> {
    private struct Place: Hashable {
        let key: Key
        let origin: Origin
    }

    private struct Part {
        var state: EngineState?
        var isListed = false
        var known: Set<Place> = []
        /// Places known before the finder went down that it has not reported again.
        var stale: Set<Place> = []
    }

    private var parts: [Part]
    private var told: EngineState?
    private var isListed = false

    init(count: Int) { parts = Array(repeating: Part(), count: count) }

    mutating func received(_ facts: [PresenceFact<Key>], from index: Int) -> [PresenceFact<Key>] {
        var news: [PresenceFact<Key>] = []
        for fact in facts {
            news += take(fact, from: index)
            if !isListed, isComplete {
                isListed = true
                news.append(.listed)
            }
        }
        return news
    }

    private mutating func take(_ fact: PresenceFact<Key>, from index: Int) -> [PresenceFact<Key>] {
        switch fact {
        case .appeared(let key, let origin):
            parts[index].stale.remove(Place(key: key, origin: origin))
            parts[index].known.insert(Place(key: key, origin: origin))
            return [fact]
        case .disappeared(let key, let origin), .hidden(let key, let origin):
            parts[index].stale.remove(Place(key: key, origin: origin))
            parts[index].known.remove(Place(key: key, origin: origin))
            return [fact]
        case .gone(let key):
            let places = parts[index].known.union(parts[index].stale).filter { $0.key == key }
            parts[index].known.subtract(places)
            parts[index].stale.subtract(places)
            // Another finder may still see it.
            return places.map { .disappeared($0.key, $0.origin) }
        case .listed:
            parts[index].isListed = true
            defer { parts[index].stale = [] }
            return parts[index].stale.map { .disappeared($0.key, $0.origin) }
        case .degraded: return [fact]
        case .backend(let state):
            if state == .up {
                parts[index].stale.formUnion(parts[index].known)
                parts[index].known = []
            }
            (parts[index].state, parts[index].isListed) = (state, false)
            guard let joint, joint != told else { return [] }
            told = joint
            if joint == .up { isListed = false }
            return [.backend(joint)]
        }
    }

    private var isComplete: Bool {
        parts.contains(where: \.isListed) && parts.allSatisfy { $0.isListed || $0.state?.reason != nil }
    }

    /// The state of all; nil while none is up and some have not reported yet.
    private var joint: EngineState? {
        if parts.contains(where: { $0.state == .up }) { return .up }
        guard !parts.contains(where: { $0.state == nil }) else { return nil }
        return parts.lazy.compactMap { $0.state }.first
    }
}

/// Derives `BackendState`, which has a history, from the bare states that an engine reports.
package struct BackendWatch: Sendable {
    /// The last state reported; nil before the first.
    package private(set) var state: BackendState?

    package init() {}

    /// Whether the backend answers, so that what it reported is current. True before the first report.
    package var isUp: Bool { state?.isUp ?? true }

    /// Takes in a state of the engine. The first one is always news.
    /// - Returns: the state to report; nil if at most the reason has changed.
    package mutating func became(_ new: EngineState) -> BackendState? {
        switch (state, new) {
        case (.available, .up), (.recovered, .up), (.lost, .down), (.unavailable, .down), (.unavailable, .idle):
            return nil
        case (nil, .up), (.unavailable, .up): state = .available
        case (.lost, .up): state = .recovered
        case (nil, .down(let reason)), (_, .idle(let reason)): state = .unavailable(reason)
        case (.available, .down(let reason)), (.recovered, .down(let reason)): state = .lost(reason)
        }
        return state
    }

    /// Takes in a state that another watch reported, to combine several queries into one.
    /// - Returns: as for a state of the engine.
    package mutating func became(_ told: BackendState) -> BackendState? {
        // A query that begins while the backend is away calls it unavailable.
        if case (.lost, .unavailable) = (state, told) { return nil }
        return became(EngineState(told))
    }

    /// Takes in the status of a publication: while it waits, the backend does not answer.
    /// - Returns: as for a state of the engine.
    package mutating func became(_ status: PublicationStatus) -> BackendState? {
        switch status.state {
        case .waiting(let reason): became(.down(reason))
        // Every publication begins with this state, whether or not the backend answers.
        case .registering where state == nil: nil
        default: became(.up)
        }
    }
}

extension EngineState {
    /// Creates the state without its history, from which `BackendWatch` makes the same one again.
    package init(_ state: BackendState) {
        switch state {
        case .available, .recovered: self = .up
        case .unavailable(let reason): self = .idle(reason)
        case .lost(let reason): self = .down(reason)
        }
    }
}
