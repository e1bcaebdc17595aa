@_exported public import AvahiEngine
@_exported public import DNSSD
public import DNSSD
@_exported public import Discovery
import DiscoveryControl
public import DiscoveryJSON
import HostEngine

extension LocalNetwork {
    /// How long a daemon that is there may take to answer before it is passed by.
    private static let patience = Duration.milliseconds(500)

    /// The network as discoverd's commands use it: through the daemon where one runs, else as `init(backend:observer:backendEnded:)` makes it
    /// with the system's avahi-daemon or a private one.
    ///
    /// Where a daemon hangs this takes half a second; else it returns at once. When the daemon is away for 5 s, queries go on without it; what is
    /// published waits for it.
    /// - Parameter observer: is told what happens.
    /// - Throws: see `init(backend:observer:backendEnded:)`.
    public convenience init(observer: (any DiscoveryObserver)? = nil) throws(DiscoveryError) {
        let found = ControlClient.find(ControlSocketPath.candidates(explicit: nil), within: Self.patience)
        if let daemon = found.daemon {
            self.init(
                engine: RemoteEngine(path: daemon.path) {
                    try? AvahiEngine(backend: .automatic(PrivateBackendOptions()))
                } withoutDaemon: {
                    try? HostEngine(.auto, publishes: false).engine
                }, observer: observer)
        } else {
            try self.init(backend: .automatic(PrivateBackendOptions()), observer: observer)
        }
    }

    /// The network without the daemon: services are found on the wire, or by avahi-daemon where another program keeps UDP port 5353 for
    /// itself, and published by avahi-daemon.
    ///
    /// Make one early in a program, before anything else in it uses D-Bus: with a private backend the environment is changed until that
    /// is connected to. On the wire a private one starts only when something is published. A system's avahi-daemon that appears later
    /// takes its place within 5 s.
    /// - Parameters:
    ///   - backend: what publishes.
    ///   - observer: is told what happens.
    ///   - backendEnded: called once, from any thread, when a backend that was asked for as `.private` has ended for good.
    /// - Throws: `.systemRefused` when the system gives no thread or no file descriptor. That nothing finds or publishes is told by each
    ///   query and publication.
    public convenience init(
        backend: AvahiBackend, observer: (any DiscoveryObserver)? = nil,
        backendEnded: @escaping @Sendable (DiscoveryError) -> Void = { _ in }
    ) throws(DiscoveryError) {
        self.init(
            engine: try HostEngine(.auto, backend: backend, backendEnded: backendEnded).engine, observer: observer)
    }
}

extension DiscoveredService {
    /// The service as one line of JSON without its end, with members in the order of docs/contract.md; safe for a terminal. For an encoder it
    /// is `Codable`.
    public func json(_ detail: ServiceDetail = .full) -> String {
        var writer = JSONWriter()
        writer.service(self, detail: detail)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
