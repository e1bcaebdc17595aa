import AvahiEngine
@_exported public import DNSSD
@_exported public import Discovery
import DiscoveryControl
import HostEngine

extension LocalNetwork {
    /// How long a daemon that is there may take to answer before it is passed by.
    private static let patience = Duration.milliseconds(500)

    /// The network as discoverd's commands use it: through the daemon where one runs, else on the system's avahi-daemon, else on a
    /// private one.
    ///
    /// Make one early in a program, before anything else in it uses D-Bus: a private backend changes the environment until it is
    /// connected to. Where a daemon hangs this takes half a second; else it returns at once. Which of them it became is not settled
    /// by it for the others: a system's avahi-daemon that appears later takes a private one's place within 5 s.
    /// - Throws: `.systemRefused` when the system gives no thread or no file descriptor; `.backendUnavailable` when there is no
    ///   directory for a private backend. That there is no backend at all is told by each query, as `.backend(.unavailable)`.
    public convenience init() throws(DiscoveryError) {
        let found = ControlClient.find(ControlSocketPath.candidates(explicit: nil), within: Self.patience)
        if let daemon = found.daemon {
            self.init(
                engine: RemoteEngine(path: daemon.path) {
                    try? AvahiEngine(backend: .automatic(PrivateBackendOptions()))
                })
        } else {
            self.init(engine: try HostEngine(.auto, backend: .automatic(PrivateBackendOptions())).engine)
        }
    }
}
