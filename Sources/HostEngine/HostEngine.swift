package import AvahiEngine
package import DNSSD
package import Discovery
import MulticastEngine

/// The engine of this machine: services of the link are found on the wire or by avahi-daemon, and published by avahi-daemon.
package struct HostEngine: Sendable {
    /// What finds and publishes.
    package let engine: any DiscoveryEngine
    /// What publishes.
    package let avahi: AvahiEngine
    /// What finds on the link: never `auto`.
    package let finder: FinderChoice
    /// Why `auto` took avahi-daemon; nil: it did not, or was not asked to choose.
    package let reason: String?

    /// Makes the engines; see their initialisers for what they start.
    /// - Throws: `.backendUnavailable` for `.wire` where UDP port 5353 is not shared; else what `AvahiEngine.init` throws.
    package init(
        _ choice: FinderChoice, backend: AvahiBackend,
        backendEnded: @escaping @Sendable (DiscoveryError) -> Void = { _ in }
    ) throws(DiscoveryError) {
        let (wire, reason) = try Self.wire(choice)
        avahi = try AvahiEngine(backend: backend, backendEnded: backendEnded)
        self.reason = reason
        guard let wire else {
            (engine, finder) = (avahi, .avahi)
            return
        }
        finder = .wire
        engine = EngineRouter(finders: [SecondOpinion(wire, backend: backend), avahi], publishers: [avahi])
    }

    private static func wire(
        _ choice: FinderChoice
    ) throws(DiscoveryError) -> (engine: MulticastEngine?, reason: String?) {
        switch choice {
        case .avahi: return (nil, nil)
        case .wire: return (try MulticastEngine(), nil)
        case .auto:
            do {
                return (try MulticastEngine(), nil)
            } catch {
                guard error.code == .backendUnavailable else { throw error }
                return (nil, error.message)
            }
        }
    }
}
