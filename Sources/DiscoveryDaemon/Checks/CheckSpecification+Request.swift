package import DNSSD
package import DiscoveryControl

extension CheckSpecification {
    /// What a client asked for, with the daemon's defaults for what it left out.
    package init(_ check: RegistrationRequest.Check) throws(DiscoveryError) {
        try self.init(
            check.text,
            interval: .milliseconds(check.intervalMilliseconds ?? 10_000),
            timeout: .milliseconds(check.timeoutMilliseconds ?? 2000),
            rise: check.rise ?? 2,
            fall: check.fall ?? 3
        )
    }
}

extension RegistrationRequest.Check {
    /// The same as text and numbers.
    package init(_ specification: CheckSpecification) {
        self.init(specification.description)
        intervalMilliseconds = specification.interval.wholeMilliseconds
        timeoutMilliseconds = specification.timeout.wholeMilliseconds
        rise = specification.rise
        fall = specification.fall
    }
}

extension Duration {
    /// Of a time that `CheckSpecification` has bounded.
    fileprivate var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
