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

    /// Starts to answer; nil where nothing is to be answered, or nothing can be.
    func names(from host: HostEngine, _ log: DaemonLog) -> LocalNames? {
        guard !sources.isEmpty else { return nil }
        guard let wire = host.wire else {
            log.warning(
                "names below .local are not answered: \(host.reasonWithoutWire ?? "nothing is found on the wire")")
            return nil
        }
        let machine: @Sendable () -> String? = { host.machineName?.name ?? Environment.hostLabel.map { "\($0).local" } }
        return LocalNames(sources, from: wire, machine: machine, log)
    }
}
#endif
