#if Commands
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import HostEngine
internal import LocalNames

/// Where programs ask for names below `local`: sockets that the service manager made, and those that the configuration names.
struct NameSockets {
    /// What the units call their sockets (`FileDescriptorName=`).
    private static let (nss, dns) = ("nss", "dns")
    static let names: Set<String> = [nss, dns]

    private let sources: LocalNames.Sources

    init(_ configuration: DaemonConfiguration, _ manager: ServiceManager) {
        var sources = LocalNames.Sources()
        sources.bindsNSS = configuration.nss
        sources.dnsAddresses = configuration.dns
        for socket in manager.inheritedSockets {
            switch (socket.name, socket.address, socket.kind) {
            case (Self.nss, .unix, .connections): sources.nss.append(socket.descriptor)
            case (Self.dns, .inet, let kind): sources.dns.append((socket.descriptor, kind))
            default: break
            }
        }
        self.sources = sources
    }

    /// Starts to answer.
    /// - Returns: nil where nobody can ask; and where names are answered.
    func names(
        from host: HostEngine, _ registry: Registry, _ log: DaemonLog
    ) -> (LocalNames?, @Sendable () -> NamesStatus) {
        guard !sources.isEmpty else { return (nil, { NamesStatus() }) }
        guard let wire = host.wire else {
            let reason = host.reasonWithoutWire ?? "services are found through avahi-daemon"
            log.warning("names below .local are not answered: \(reason)")
            let status = sources.failed(reason)
            // The service manager listens all the same: who connects would wait for ever.
            var inherited = sources
            (inherited.bindsNSS, inherited.dnsAddresses) = (false, [])
            return (LocalNames(inherited, from: nil, machine: { nil }, aliases: { [] }, log), { status })
        }
        let machine: @Sendable () -> String? = { host.machineName?.name ?? Environment.hostLabel.map { "\($0).local" } }
        let names = LocalNames(
            sources, from: wire, machine: machine, aliases: { registry.aliases.withLock { $0 } }, log)
        let failed = sources.failed("the system has no thread")
        return (names, { names?.status ?? failed })
    }
}
#endif
