#if Commands
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import HostEngine
internal import LocalNames

/// Where programs ask for names below `local`: sockets that the service manager made, and those that the configuration names.
struct NameSockets {
    /// What the units call their sockets (`FileDescriptorName=`).
    static let nss = "nss"

    private let sources: LocalNames.Sources

    init(_ configuration: DaemonConfiguration, _ manager: ServiceManager) {
        var sources = LocalNames.Sources()
        sources.bindsNSS = configuration.nss
        for socket in manager.inheritedSockets where socket.name == Self.nss {
            if case .unix = socket.address { sources.nss.append(socket.descriptor) }
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
