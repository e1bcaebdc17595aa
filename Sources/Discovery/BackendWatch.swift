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

    /// As a publication sees it: while it waits, the backend does not answer.
    /// - Returns: what to tell, as `became(_:)` of a state.
    package mutating func became(_ status: PublicationStatus) -> BackendState? {
        switch status.state {
        case .waiting(let reason): became(state == nil ? .unavailable(reason) : .lost(reason))
        // How every publication begins.
        case .registering where state == nil: nil
        default: became(.available)
        }
    }

    /// That it answers is news the first time: what is asked for may take longer to come.
    /// - Returns: what to tell, or nil when nothing has changed but the reason.
    package mutating func became(_ new: BackendState) -> BackendState? {
        switch (state, new) {
        case (.lost, .lost), (.unavailable, .unavailable), (.lost, .unavailable): return nil
        case (.available, .available), (.available, .recovered): return nil
        case (.recovered, .available), (.recovered, .recovered): return nil
        case (.lost, .available): state = .recovered
        case (nil, .recovered), (.unavailable, .recovered): state = .available
        default: state = new
        }
        return state
    }
}
