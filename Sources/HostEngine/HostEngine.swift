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

    /// Makes the engines; see their initialisers for what they start.
    /// - Throws: `.backendUnavailable` for `.wire` where UDP port 5353 is not shared; else what `AvahiEngine.init` throws.
    package init(
        _ choice: FinderChoice, backend: AvahiBackend,
        backendEnded: @escaping @Sendable (DiscoveryError) -> Void = { _ in }
    ) throws(DiscoveryError) {
        let wire = choice == .wire ? try MulticastEngine() : nil
        avahi = try AvahiEngine(backend: backend, backendEnded: backendEnded)
        finder = wire == nil ? .avahi : .wire
        engine =
            if let wire {
                EngineRouter(finders: [SecondOpinion(wire, backend: backend), avahi], publishers: [avahi])
            } else {
                avahi
            }
    }

    /// Why services cannot be found on the wire here; nil: they can.
    package static func reasonWithoutWire() -> String? {
        do {
            _ = try MulticastEngine()
            return nil
        } catch {
            return error.message
        }
    }
}
