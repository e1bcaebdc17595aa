package import DNSSD

/// Services that clients could not reach: each is verified once in a while, whoever says so and however often.
package struct Doubts: Sendable {
    /// The shortest interval between two verifications of a service, and how long one takes (RFC 6762 §10.4).
    package static let interval = Duration.seconds(10)
    /// Services verified in that time; further ones are left alone.
    package static let capacity = 64

    private var verified: [ServiceInstance: Duration] = [:]

    package init() {}

    /// Whether a service is to be verified now.
    package mutating func isNew(_ service: ServiceInstance, now: Duration) -> Bool {
        verified = verified.filter { now < $0.value + Self.interval }
        guard verified[service] == nil, verified.count < Self.capacity else { return false }
        verified[service] = now
        return true
    }
}
