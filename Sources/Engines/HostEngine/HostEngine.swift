package import AvahiEngine
package import DNSSD
package import Discovery
package import DiscoverySystem
package import MulticastEngine

/// This machine's engine: finds the link's services on the wire or through avahi-daemon, and publishes through avahi-daemon or by itself.
package struct HostEngine: Sendable {
    /// Finds and publishes.
    package let engine: any DiscoveryEngine
    /// Publishes on the link.
    package let publisher: any ServicePublisher
    package let avahi: AvahiEngine
    /// Finds on the link: `avahi`, or the wire.
    package let linkFinder: any ServiceFinder
    /// Where records of the links can be asked for; nil where all is avahi-daemon's.
    package let wire: MulticastEngine?
    /// The finder in use; never `auto`.
    package let finder: AvahiUse.Finder
    /// Why `auto` did not become the wire.
    package let reasonWithoutWire: String?

    /// Creates the engines; their initialisers say what they start.
    /// - Parameters:
    ///   - use: what publishes; with `.never`, no avahi-daemon is asked for anything.
    ///   - publishes: false if nothing will be published.
    ///   - isCommand: whether a person has started this (`MulticastEngine.isOfCommand`).
    /// - Throws: `.backendUnavailable` for `.wire` and `.never` if UDP port 5353 is not shared; otherwise the errors of `AvahiEngine.init`.
    package init(
        _ choice: AvahiUse.Finder, avahi use: AvahiUse = .auto, publishes: Bool = true,
        isCommand: Bool = false
    ) throws(DiscoveryError) {
        let usesWire = choice != .avahi || use != .always && publishes
        let isNeeded = choice == .wire || use == .never
        let (wire, reason) = usesWire ? try Self.wire(isNeeded: isNeeded, isCommand: isCommand) : (nil, nil)
        reasonWithoutWire = choice == .avahi ? nil : reason
        self.wire = wire
        let avahi = try AvahiEngine()
        self.avahi = avahi
        if let wire {
            avahi.ask { [weak wire] instance, interfaces, answer in
                guard let wire else { return answer(false) }
                wire.isOthers(instance, on: interfaces, answer: answer)
            }
        }
        let onWire = choice == .avahi ? nil : wire
        let publisher: any ServicePublisher =
            switch use {
            case .always: avahi
            case .never: wire ?? avahi
            case .auto:
                LinkPublisher(avahi, wire, obstacle: reason, ends: onWire == nil ? wire : avahi)
            }
        self.publisher = publisher
        guard let onWire else {
            (linkFinder, finder) = (avahi, .avahi)
            engine = EngineRouter(finders: [avahi], publishers: [publisher])
            return
        }
        (linkFinder, finder) = (onWire, .wire)
        guard use != .never else {
            engine = onWire
            return
        }
        engine = EngineRouter(finders: [onWire], publishers: [publisher])
    }

    /// What publishes now, `avahi` or `wire`; nil where it is not known yet, or nothing can.
    package var publishing: String? {
        let current: PublisherSelection.Publisher? =
            switch publisher {
            case let publisher as LinkPublisher: publisher.current
            case is AvahiEngine: .avahi
            default: .wire
            }
        return current?.rawValue
    }

    /// This machine's name for what publishes now, and the one that it would have, had no other host that one; nil where nothing is
    /// published, or it is not known.
    package var machineName: (name: String, wanted: String)? {
        let name =
            switch publisher {
            case let publisher as LinkPublisher: publisher.machineName
            case let publisher as MulticastEngine: publisher.machineName
            default: MulticastEngine.MachineName?.none
            }
        return name.map { ($0.name, $0.wanted) }
    }

    /// Why services cannot be found on the wire here; nil if they can.
    package static func reasonWithoutWire() -> String? {
        do {
            return try wire(isNeeded: false, isCommand: false).reason
        } catch {
            return error.message
        }
    }

    private static func wire(
        isNeeded: Bool, isCommand: Bool
    ) throws(DiscoveryError) -> (engine: MulticastEngine?, reason: String?) {
        do {
            let engine = try MulticastEngine()
            if isCommand { engine.isOfCommand() }
            return (engine, nil)
        } catch {
            guard !isNeeded, error.code == .backendUnavailable else { throw error }
            return (nil, error.message)
        }
    }
}
