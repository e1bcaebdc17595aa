import DNSSD
import Discovery
import System

/// Which interfaces can receive, asked of the system when something disappears; thousands that disappear together ask once.
struct Receivers {
    private struct Key: Hashable {
        let interface: NetworkInterface
        let family: IPAddress.Family
    }

    private static let validity = Duration.milliseconds(20)

    private var known: [Key: Bool] = [:]
    private var validUntil = MonotonicTime(microseconds: 0)

    mutating func isReceiving(_ sighting: Sighting) -> Bool {
        guard let interface = sighting.origin.interface, let family = sighting.family else { return true }
        return isReceiving(interface, over: family)
    }

    private mutating func isReceiving(_ interface: NetworkInterface, over family: IPAddress.Family) -> Bool {
        let now = MonotonicTime.now
        if validUntil < now {
            known = [:]
            validUntil = now + Self.validity
        }
        let key = Key(interface: interface, family: family)
        if let known = known[key] { return known }
        let answer = SystemInterfaces.isReceiving(interface, over: family)
        known[key] = answer
        return answer
    }
}
