internal import DNSSD
internal import Discovery
package import DiscoveryControl

extension Registry {
    /// A registration that a request led to.
    package struct Added: Sendable {
        package let registration: ManagedRegistration
        package let isNew: Bool
        /// What the request changed of an earlier one.
        package var change: RegistrationChange?
    }

    static var unknown: ControlError {
        ControlError(403, DiscoveryError.Code.notPermitted.description, "only the control socket knows who you are")
    }
}
