package import DNSSD

/// Services that clients could not reach: each is verified once in a while, whoever says so and however often.
package struct Doubts: Sendable {
    /// The shortest interval between two verifications of a service, and how long one takes (RFC 6762 §10.4).
    package static let interval = Duration.seconds(10)
    /// Services verified in that time; further ones are left alone.
    package static let capacity = 64
    /// Services verified in that time for one user, so that none can use up all.
    package static let share = 8

    private struct Verification {
        let begun: Duration
        let user: UInt32?
    }

    private var verified: [ServiceInstance: Verification] = [:]

    package init() {}

    /// Returns whether to verify a service now. Only for services that exist: each has one of few places.
    /// - Parameters:
    ///   - service: the service.
    ///   - user: who could not reach it; all that are unknown count as one.
    ///   - now: the time.
    package mutating func isNew(_ service: ServiceInstance, for user: UInt32?, now: Duration) -> Bool {
        verified = verified.filter { now < $0.value.begun + Self.interval }
        guard verified[service] == nil, verified.count < Self.capacity,
            verified.values.count(where: { $0.user == user }) < Self.share
        else { return false }
        verified[service] = Verification(begun: now, user: user)
        return true
    }
}
