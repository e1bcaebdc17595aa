/// What part this machine's avahi-daemon has beside discoverd: the option `--avahi`, and the key `avahi` of the configuration
/// (docs/decisions/0086-avahi-in-one-word.md).
package enum AvahiUse: String, CaseIterable, Sendable {
    /// It publishes where it answers, else discoverd itself. It finds only where UDP port 5353 is not shared.
    case auto
    /// Nothing else publishes. Services are found as by `auto`.
    case always
    /// It neither finds nor publishes.
    case never

    /// What the version before said in two words: what publishes, and what finds.
    package struct Old: Hashable, Sendable {
        package let backend: Backend
        package let finder: Finder

        package init(_ backend: Backend, _ finder: Finder) { (self.backend, self.finder) = (backend, finder) }
    }

    /// What published.
    package enum Backend: String, CaseIterable, Sendable {
        case auto, system, wire

        /// Reads a value; `private` was an old name of `wire`.
        package init?(named name: String) { self.init(rawValue: name == "private" ? "wire" : name) }
    }

    /// What finds services of the link. Tests and those who look for a fault name it still.
    package enum Finder: String, CaseIterable, Sendable {
        /// The links themselves; avahi-daemon where UDP port 5353 is not shared.
        case auto
        /// The links themselves, by multicast DNS.
        case wire
        /// avahi-daemon, over D-Bus.
        case avahi
    }

    /// An old pair as it is said now.
    package struct Now: Hashable, Sendable {
        package let use: AvahiUse
        /// What finds, where that is something else than `use` says.
        package let finder: Finder?

        init(_ use: AvahiUse, _ finder: Finder? = nil) { (self.use, self.finder) = (use, finder) }
    }

    /// All nine old pairs.
    package static let ofOld: [Old: Now] = [
        Old(.auto, .auto): Now(.auto), Old(.auto, .wire): Now(.auto, .wire), Old(.auto, .avahi): Now(.auto, .avahi),
        Old(.system, .auto): Now(.always), Old(.system, .wire): Now(.always, .wire),
        Old(.system, .avahi): Now(.always, .avahi), Old(.wire, .auto): Now(.never), Old(.wire, .wire): Now(.never),
        Old(.wire, .avahi): Now(.never, .avahi),
    ]

    package init(_ backend: Backend) { self = Self.ofOld[Old(backend, .auto)]?.use ?? .auto }

    /// As version 1 of JSON, the metrics and `LocalNetwork.Backend` name what publishes.
    package var backend: Backend {
        switch self {
        case .auto: .auto
        case .always: .system
        case .never: .wire
        }
    }
}
