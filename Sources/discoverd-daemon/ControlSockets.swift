#if Commands
internal import DNSSD
internal import DaemonSupport
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import System

/// The sockets that are served: the control socket, which the service manager may have made, and TCP ones. With the lock that
/// keeps a second daemon away.
struct ControlSockets {
    /// Where clients find the control socket.
    let path: String
    let listeners: [ControlServer.Listener]
    private let runtime: RuntimeDirectory
    /// The control socket is the service manager's, which keeps it over restarts.
    private let isInherited: Bool

    /// Takes the lock, and the sockets.
    /// - Throws: `Failure` when another daemon runs, or a socket cannot be had.
    init(explicit: String?, _ configuration: DaemonConfiguration, _ manager: ServiceManager) throws {
        var inherited: String?
        var listeners: [ControlServer.Listener] = []
        for socket in manager.inheritedSockets {
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
            case .alreadyRunning(let pid):
                throw Failure(status: 1, message: "already running\(pid.map { " (pid \($0))" } ?? "")")
            case .unusable(let reason): throw Failure(status: 1, message: "no control socket: \(reason)")
            }
        }
        if let tcp = configuration.tcpListen {
            do throws(SystemError) {
                let descriptor = try Sockets.listening(
                    at: SocketAddress(tcp.address, port: tcp.port.rawValue), backlog: RuntimeDirectory.backlog)
                listeners.append(ControlServer.Listener(descriptor: descriptor, isReadOnly: true, hosts: tcp.hosts))
            } catch {
                throw Failure(status: 1, message: "cannot listen on \(tcp.address) port \(tcp.port): \(error)")
            }
        }
        isInherited = inherited != nil
        path = inherited ?? runtime.socketPath
        self.listeners = listeners
    }

    /// Where the lock is taken, and the socket made unless it was inherited: with an inherited one the directory may be the
    /// manager's, so the own one comes first.
    private static func ownPath(_ explicit: String?, _ inherited: String?) throws(RuntimeDirectory.Failure) -> String {
        do throws(DiscoveryError) {
            return try ControlSocketPath.forDaemon(explicit: explicit)
        } catch {
            guard let inherited else { throw .unusable(error.message) }
            return inherited
        }
    }

    /// Whether clients can still find the control socket; always when it is the service manager's to keep.
    var isThere: Bool { isInherited || runtime.hasSocket }

    /// Removes the control socket, unless it is the service manager's.
    func remove() { if !isInherited { runtime.removeSocket() } }
}
#endif
