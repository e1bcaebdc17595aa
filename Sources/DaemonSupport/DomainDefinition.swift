public import DNSSD
public import UnicastEngine

/// A domain of the configuration: its settings, and where its key is.
public struct DomainDefinition: Hashable, Sendable {
    /// The settings, without the key.
    public var settings: DomainSettings
    /// The file of the key that signs updates, or the name of a credential; nil: nothing is published there.
    public var keyFile: String?
    /// File and line, for messages.
    public var place: String

    /// A definition of these parts.
    public init(_ settings: DomainSettings, keyFile: String? = nil, place: String) {
        self.settings = settings
        self.keyFile = keyFile
        self.place = place
    }

    /// The settings with the key, which is read now. Blocks.
    /// - Throws: `.misconfigured` for a key that cannot be used; see `TSIGKey.init(file:)`.
    public func withKey() throws(DiscoveryError) -> DomainSettings {
        guard let keyFile else { return settings }
        var settings = settings
        settings.key = try TSIGKey(file: keyFile)
        return settings
    }

    /// Whether it has a key, and covers a domain.
    package func publishes(in domain: Domain) -> Bool { keyFile != nil && domain.isWithin(settings.domain) }
}
