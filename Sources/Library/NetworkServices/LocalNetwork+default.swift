@_exported public import AvahiEngine
@_exported public import DNSSD
public import DNSSD
@_exported public import Discovery
import DiscoveryControl
public import DiscoveryJSON
import DiscoverySystem
import HostEngine

extension LocalNetwork {
    /// How long a daemon that is there may take to answer before it is passed by.
    private static let patience = Duration.milliseconds(500)

    /// The network as discoverd's commands use it: through the daemon where one runs, else as `init(backend:observer:)` makes it
    /// with the system's avahi-daemon, or without.
    ///
    /// Where a daemon hangs this takes half a second; else it returns at once. When the daemon is away for 5 s, queries go on without it; what is
    /// published waits for it.
    /// - Parameter observer: is told what happens.
    /// - Throws: see `init(backend:observer:)`.
    public convenience init(observer: (any DiscoveryObserver)? = nil) throws(DiscoveryError) {
        let found = ControlClient.find(ControlSocketPath.candidates(explicit: nil), within: Self.patience)
        if let daemon = found.daemon {
            self.init(
                engine: RemoteEngine(path: daemon.path) {
                    try? HostEngine(.avahi).engine
                } withoutDaemon: {
                    try? HostEngine(.auto, publishes: false).engine
                }, observer: observer)
        } else {
            try self.init(backend: .auto, observer: observer)
        }
    }

    /// What publishes on the link.
    public enum Backend: String, CaseIterable, Hashable, Sendable {
        /// The system's avahi-daemon where it answers, else this process. Services go from one to the other, unseen by others, as avahi-daemon
        /// comes and goes. Beside another program that answers for this machine nothing is published.
        case auto
        /// The system's avahi-daemon.
        case system
        /// This process, on the wire.
        case wire
    }

    /// The network without the daemon: services are found on the wire, or by avahi-daemon where another program keeps UDP port 5353 for
    /// itself.
    /// - Parameters:
    ///   - backend: what publishes.
    ///   - observer: is told what happens.
    /// - Throws: `.systemRefused` when the system gives no thread or no file descriptor; with `.wire`, `.backendUnavailable` where UDP port 5353
    ///   is not shared. Otherwise that nothing finds or publishes is told by each query and publication.
    public convenience init(
        backend: Backend, observer: (any DiscoveryObserver)? = nil
    ) throws(DiscoveryError) {
        let avahi: AvahiUse =
            switch backend {
            case .auto: .auto
            case .system: .always
            case .wire: .never
            }
        self.init(engine: try HostEngine(.auto, avahi: avahi).engine, observer: observer)
    }
}

extension DiscoveredService {
    /// The service as one line of JSON without its end, with members in the order of docs/contract/json.md; safe for a terminal. For an encoder it
    /// is `Codable`.
    public func json(_ detail: ServiceDetail = .full) -> String {
        var writer = JSONWriter()
        writer.service(self, detail: detail)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
