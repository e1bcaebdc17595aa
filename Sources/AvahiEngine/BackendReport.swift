import DNSSD

/// What one operation has been told of the backend, so that it is told each change once and in words that fit.
struct BackendReport {
    private enum Told: Equatable {
        case nothing
        case unavailable(String)
        case available
        case lost
    }

    private var told = Told.nothing

    /// The backend answers.
    mutating func up() -> BackendState? {
        switch told {
        case .available: return nil
        case .lost:
            told = .available
            return .recovered
        case .nothing, .unavailable:
            told = .available
            return .available
        }
    }

    /// The backend does not answer.
    mutating func down(_ reason: String) -> BackendState? {
        switch told {
        case .lost: return nil
        case .unavailable(let before) where before == reason: return nil
        case .available:
            told = .lost
            return .lost(reason)
        case .nothing, .unavailable:
            told = .unavailable(reason)
            return .unavailable(reason)
        }
    }
}
