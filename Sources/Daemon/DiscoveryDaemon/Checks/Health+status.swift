internal import Discovery
internal import DiscoveryControl

extension Health {
    /// Without the reason.
    var state: RegistrationStatus.Health {
        switch self {
        case .unknown: .unknown
        case .passing: .passing
        case .failing: .failing
        }
    }
}
