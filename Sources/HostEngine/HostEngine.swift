package import AvahiEngine
package import DNSSD
package import Discovery
import MulticastEngine

/// This machine's engine: finds the link's services on the wire or through avahi-daemon, and publishes through avahi-daemon.
package struct HostEngine: Sendable {
    /// Finds and publishes.
    package let engine: any DiscoveryEngine
    /// Publishes.
    package let avahi: AvahiEngine
    /// The finder in use; never `auto`.
    package let finder: FinderChoice

    /// Creates the engines; their initialisers say what they start.
    /// - Throws: `.backendUnavailable` for `.wire` if UDP port 5353 is not shared; otherwise the errors of `AvahiEngine.init`.
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

    /// Why services cannot be found on the wire here; nil if they can.
    package static func reasonWithoutWire() -> String? {
        do {
            _ = try MulticastEngine()
            return nil
        } catch {
            return error.message
        }
    }
}
