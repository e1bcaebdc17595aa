package import DNSSD

/// What is known of the backend, and which of its states are news.
package struct BackendWatch: Sendable {
    /// What was told last; nil: nothing yet.
    package private(set) var state: BackendState?

    package init() {}

    /// It answers, so what is reported is true now.
    package var isUp: Bool {
        switch state {
        case nil, .available, .recovered: true
        case .lost, .unavailable: false
        }
    }

    /// That it answers is news the first time: what is asked for may take longer to come.
    /// - Returns: what to tell, or nil when nothing has changed but the reason.
    package mutating func became(_ new: EngineState) -> BackendState? {
        switch (state, new) {
        case (.available, .up), (.recovered, .up), (.lost, .down), (.unavailable, .down): return nil
        case (nil, .up), (.unavailable, .up): state = .available
        case (.lost, .up): state = .recovered
        case (nil, .down(let reason)): state = .unavailable(reason)
        case (.available, .down(let reason)), (.recovered, .down(let reason)): state = .lost(reason)
        }
        return state
    }

    /// The same of what another watch told, where several queries are one.
    package mutating func became(_ told: BackendState) -> BackendState? { became(EngineState(told)) }

    /// As a publication sees it: while it waits, the backend does not answer.
    /// - Returns: what to tell, as `became(_:)` of a state.
    package mutating func became(_ status: PublicationStatus) -> BackendState? {
        switch status.state {
        case .waiting(let reason): became(.down(reason))
        // How every publication begins.
        case .registering where state == nil: nil
        default: became(.up)
        }
    }
}

extension EngineState {
    /// Without its history.
    package init(_ state: BackendState) {
        switch state {
        case .available, .recovered: self = .up
        case .unavailable(let reason), .lost(let reason): self = .down(reason)
        }
    }
}
