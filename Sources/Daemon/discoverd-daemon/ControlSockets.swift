#if Commands
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoveryControl
internal import DiscoverySystem

/// The sockets that the daemon serves: the control socket, possibly inherited from the service manager, and TCP sockets. Also holds the
/// lock that keeps a second daemon away.
struct ControlSockets {
    /// Where clients find the control socket.
    let path: String
    let listeners: [ControlServer.Listener]
    private let runtime: RuntimeDirectory
    /// The service manager made the control socket, and keeps it across restarts.
    private let isInherited: Bool

    /// Takes the lock and opens the sockets.
    /// - Throws: `Failure` if another daemon runs, or a socket cannot be opened.
    init(explicit: String?, _ configuration: DaemonConfiguration, _ manager: ServiceManager) throws {
        var inherited: String?
        var listeners: [ControlServer.Listener] = []
        for socket in manager.inheritedSockets where !NameSockets.names.contains(socket.name) {
            guard socket.kind == .connections else { continue }
            switch socket.address {
            case .unix(let path):
                inherited = inherited ?? path
                listeners.append(ControlServer.Listener(descriptor: socket.descriptor, isReadOnly: false))
            case .inet: listeners.append(ControlServer.Listener(descriptor: socket.descriptor, isReadOnly: true))
            }
        }
        do throws(RuntimeDirectory.Failure) {
            runtime = try RuntimeDirectory(socketPath: try Self.ownPath(explicit, inherited))
            if inherited == nil {
                listeners.append(ControlServer.Listener(descriptor: try runtime.listen(), isReadOnly: false))
            }
        } catch {
            switch error {
            case .alreadyRunning(let pid, let directory):
                let process = pid.map { " (pid \($0))" } ?? ""
                let place = directory.quotedForMessage
                throw Failure(status: 1, message: "already running\(process), with its socket in \(place)")
            case .unusable(let reason): throw Failure(status: 1, message: "no control socket: \(reason)")
            }
        }
        if let tcp = configuration.tcpListen {
            do throws(SystemError) {
                let descriptor = try Sockets.listening(
                    at: SocketAddress(tcp.address, port: tcp.port.rawValue), backlog: RuntimeDirectory.backlog)
                listeners.append(ControlServer.Listener(descriptor: descriptor, isReadOnly: true, hosts: tcp.hosts))
            } catch {
                // Nobody will answer there.
                if inherited == nil { runtime.removeSocket() }
                throw Failure(status: 1, message: "cannot listen on \(tcp.address) port \(tcp.port): \(error)")
            }
        }
        isInherited = inherited != nil
        path = inherited ?? runtime.socketPath
        self.listeners = listeners
    }

    /// Where to take the lock and, unless inherited, create the socket. The daemon's own path comes first, because the directory of an
    /// inherited socket may belong to the service manager.
    private static func ownPath(_ explicit: String?, _ inherited: String?) throws(RuntimeDirectory.Failure) -> String {
        do throws(DiscoveryError) {
            return try ControlSocketPath.forDaemon(explicit: explicit)
        } catch {
            guard let inherited else { throw .unusable(error.message) }
            return inherited
        }
    }

    /// Whether clients can still find the control socket; always true if the service manager owns it.
    var isThere: Bool { isInherited || runtime.hasSocket }

    /// Removes the control socket, unless the service manager owns it.
    func remove() { if !isInherited { runtime.removeSocket() } }
}
#endif
