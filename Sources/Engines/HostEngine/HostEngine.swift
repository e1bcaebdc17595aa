package import AvahiEngine
package import DNSSD
package import Discovery
import MulticastEngine

/// This machine's engine: finds the link's services on the wire or through avahi-daemon, and publishes through avahi-daemon or by itself.
package struct HostEngine: Sendable {
    /// Finds and publishes.
    package let engine: any DiscoveryEngine
    /// Publishes on the link: `avahi`, or the wire.
    package let publisher: any ServicePublisher
    package let avahi: AvahiEngine
    /// Finds on the link: `avahi`, or the wire.
    package let linkFinder: any ServiceFinder
    /// The finder in use; never `auto`.
    package let finder: FinderChoice
    /// Why `auto` did not become the wire.
    package let reasonWithoutWire: String?

    /// Creates the engines; their initialisers say what they start.
    /// - Parameters:
    ///   - publisher: what publishes; for the wire, no avahi-daemon is asked for anything.
    ///   - publishes: false if nothing will be published: on the wire no private backend is needed then.
    ///   - backendEnded: see `AvahiEngine.init`.
    /// - Throws: `.backendUnavailable` for `.wire` if UDP port 5353 is not shared; otherwise the errors of `AvahiEngine.init`.
    package init(
        _ choice: FinderChoice, backend: AvahiBackend = .system, publisher: PublisherChoice = .avahi,
        publishes: Bool = true,
        backendEnded: @escaping @Sendable (DiscoveryError) -> Void = { _ in }
    ) throws(DiscoveryError) {
        let (wire, reason) = try Self.wire(publisher == .wire ? .wire : choice)
        reasonWithoutWire = reason
        guard let wire else {
            let avahi = try AvahiEngine(backend: backend, backendEnded: backendEnded)
            (self.avahi, engine, linkFinder, finder, self.publisher) = (avahi, avahi, avahi, .avahi, avahi)
            return
        }
        guard publisher == .avahi else {
            avahi = try AvahiEngine(backend: .system)
            (engine, linkFinder, finder, self.publisher) = (wire, wire, .wire, wire)
            return
        }
        // Where a private backend alone is to be used, the system's avahi-daemon is not asked.
        let isPrivate = if case .private = backend { true } else { false }
        avahi = try AvahiEngine(
            backend: publishes || isPrivate ? backend.toPublish : .system, backendEnded: backendEnded)
        avahi.ask { [weak wire] instance, answer in
            guard let wire else { return answer(false) }
            wire.isOthers(instance, answer: answer)
        }
        let finder: any ServiceFinder = isPrivate ? wire : SecondOpinion(wire, avahi)
        linkFinder = finder
        self.finder = .wire
        self.publisher = avahi
        engine = EngineRouter(finders: [finder, avahi], publishers: [avahi])
    }

    /// Why services cannot be found on the wire here; nil if they can.
    package static func reasonWithoutWire() -> String? {
        do {
            return try wire(.auto).reason
        } catch {
            return error.message
        }
    }

    private static func wire(
        _ choice: FinderChoice
    ) throws(DiscoveryError) -> (engine: MulticastEngine?, reason: String?) {
        guard choice != .avahi else { return (nil, nil) }
        do {
            return (try MulticastEngine(), nil)
        } catch {
            guard choice == .auto, error.code == .backendUnavailable else { throw error }
            return (nil, error.message)
        }
    }
}

extension AvahiBackend {
    /// The same, for publishing alone.
    fileprivate var toPublish: AvahiBackend {
        switch self {
        case .system: .system
        case .private(let options): .private(options.toPublish)
        case .automatic(let options): .automatic(options.toPublish)
        }
    }
}

extension PrivateBackendOptions {
    fileprivate var toPublish: PrivateBackendOptions {
        PrivateBackendOptions(interfaces: interfaces, passesOutput: passesOutput, startsToPublishOnly: true)
    }
}

/// What publishes on the link.
package enum PublisherChoice: Sendable {
    /// avahi-daemon, the system's or a private one.
    case avahi
    /// This process, by multicast DNS.
    case wire
}

/// What finds services on the link.
package enum FinderChoice: String, CaseIterable, Sendable {
    /// The wire; avahi-daemon where UDP port 5353 is not shared.
    case auto
    /// The links themselves, by multicast DNS.
    case wire
    /// avahi-daemon, over D-Bus.
    case avahi
}
