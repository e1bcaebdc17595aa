#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverdCommands
internal import UnicastEngine

/// The domains of the daemon's configuration, for commands that do without the daemon.
enum ConfiguredDomains {
    private static let place = ConfigurationPlace.system

    /// Those of the configuration; none, with a notice, where it cannot be read.
    static func definitions(_ notices: ProgramNotices) -> [DomainDefinition] {
        do throws(ConfigurationError) {
            return try place.load().domains
        } catch {
            notices.detail("the daemon's configuration is not used: \(error.summary)")
            return []
        }
    }

    /// Those of the configuration, for a command.
    /// - Throws: `.misconfigured` where it cannot be read, and a key of it would be needed.
    static func definitions(
        for wish: DomainWish, _ notices: ProgramNotices
    ) throws(DiscoveryError) -> [DomainDefinition] {
        guard wish.publishes, wish.keyFile == nil, let domain = wish.others.first else { return definitions(notices) }
        do throws(ConfigurationError) {
            return try place.load().domains
        } catch {
            throw DiscoveryError(
                .misconfigured, "the configuration, which has the key for \(domain), cannot be read: \(error.summary)")
        }
    }

    /// The settings for a command: what is configured, and over it what the command line says.
    /// - Throws: `.misconfigured` for a key of a domain that the command publishes in.
    static func settings(
        for wish: DomainWish, _ definitions: [DomainDefinition], _ notices: ProgramNotices
    ) throws(DiscoveryError) -> [DomainSettings] {
        var settings: [DomainSettings] = []
        for definition in definitions {
            var one = definition.settings
            let isPublished = wish.publishes && wish.others.contains { $0.isWithin(one.domain) }
            if isPublished, wish.keyFile == nil { one = try definition.withKey() }
            settings.append(one)
        }
        guard wish.isSpecial else { return settings }
        let server = try wish.server.map { text throws(DiscoveryError) in try ServerName(text) }
        let key = try wish.keyFile.map { path throws(DiscoveryError) in try TSIGKey(file: path) }
        for domain in wish.others {
            let covering = settings.filter { domain.isWithin($0.domain) }
                .max { $0.domain.text.utf8.count < $1.domain.text.utf8.count }
            var one = covering ?? DomainSettings(domain)
            one.domain = domain
            if let server { one.server = server }
            if let key { one.key = key }
            settings.removeAll { $0.domain == domain }
            settings.append(one)
        }
        return settings
    }
}
#endif
