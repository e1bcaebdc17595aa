#if Commands
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc

extension Daemon.Settings {
    /// The daemon's settings in a configuration.
    init(_ configuration: DaemonConfiguration) {
        self.init(
            browse: Set(configuration.browse), services: configuration.services,
            policy: RegistryPolicy(configuration.access))
    }
}

extension ConnectionTable.Limits {
    /// As many connections as the descriptor limit allows, less a reserve for the backend, files and checks.
    var withinDescriptors: ConnectionTable.Limits {
        var limits = self
        var files = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        limits.clients = min(clients, max(4, Int(clamping: files.rlim_cur) - 24))
        limits.perUser = min(perUser, limits.clients)
        limits.forRoot = max(limits.clients * 3 / 4, 1)
        return limits
    }
}

extension StatePlace {
    /// The state directory of this process.
    init(_ command: DaemonCommand) {
        self.init(
            option: command.state, hasOwnSocket: command.socket != nil, isRoot: geteuid() == 0,
            environment: Environment.value)
    }
}

/// The log level: from the command line, else from the configuration, which may change while the daemon runs.
final class LogVerbosity: Sendable {
    private let fixed: DaemonLog.Level?
    private let configured: Locked<DaemonLog.Level>

    init(_ fixed: DaemonLog.Level?, _ configuration: DaemonConfiguration) {
        self.fixed = fixed
        configured = Locked(configuration.logLevel ?? .info)
    }

    /// The current level.
    var level: DaemonLog.Level { fixed ?? configured.withLock { $0 } }

    /// Adopts the level of a configuration.
    func configured(_ configuration: DaemonConfiguration) {
        configured.withLock { $0 = configuration.logLevel ?? .info }
    }
}
#endif
