package import DNSSD

/// Derives what is news from the states of a backend.
package struct BackendWatch: Sendable {
    /// The last state reported; nil: none yet.
    package private(set) var state: BackendState?

    package init() {}

    /// It answers, so what is reported is true now.
    package var isUp: Bool {
        switch state {
        case nil, .available, .recovered: true
        case .lost, .unavailable: false
        }
    }

    /// The first answer is news: results may take longer to come.
    /// - Returns: what to report, or nil when only the reason has changed.
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

    /// The same for what another watch reported, where several queries are one.
    package mutating func became(_ told: BackendState) -> BackendState? { became(EngineState(told)) }

    /// As a publication sees it: while it waits, the backend does not answer.
    /// - Returns: what to report, as `became(_:)` for a state.
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
