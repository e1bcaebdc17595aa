internal import DiscoveryControl

/// Whether a service works, according to its checks.
public enum Health: Hashable, Sendable {
    /// Nothing was looked at yet.
    case unknown
    /// It works.
    case passing
    /// It does not work, or not steadily; the reason is safe for a terminal.
    case failing(reason: String)

    /// Without the reason.
    var state: RegistrationStatus.Health {
        switch self {
        case .unknown: .unknown
        case .passing: .passing
        case .failing: .failing
        }
    }
}
