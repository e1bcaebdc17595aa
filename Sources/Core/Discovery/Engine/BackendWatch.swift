package import DNSSD

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
