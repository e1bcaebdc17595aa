#if Commands
internal import DiscoveryDaemon
internal import Discovery
internal import DiscoverySystem

/// The log level: from the command line, else from the configuration, which may change while the daemon runs.
final class LogVerbosity: Sendable {
    private let fixed: DaemonLog.Level?
    private let configured: Locked<DaemonLog.Level>

    init(_ fixed: DaemonLog.Level?, _ configuration: DaemonConfiguration) {
        self.fixed = fixed
        configured = Locked(Self.level(configuration))
    }

    /// The current level.
    var level: DaemonLog.Level { fixed ?? configured.withLock { $0 } }

    /// Adopts the level of a configuration.
    func configured(_ configuration: DaemonConfiguration) {
        configured.withLock { $0 = Self.level(configuration) }
    }

    private static func level(_ configuration: DaemonConfiguration) -> DaemonLog.Level {
        switch configuration.logLevel {
        case .debug: .debug
        case .info, nil: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
#endif
