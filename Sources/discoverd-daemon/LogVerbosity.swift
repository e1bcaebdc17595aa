#if Commands
internal import DaemonSupport
internal import Discovery
internal import DiscoveryDaemon
internal import System

/// How much the log says: as the command line says, else the configuration, which may change while the daemon runs.
final class LogVerbosity: Sendable {
    private let fixed: DaemonLog.Level?
    private let configured: Locked<DaemonLog.Level>

    init(_ fixed: DaemonLog.Level?, _ configuration: DaemonConfiguration) {
        self.fixed = fixed
        configured = Locked(Self.level(configuration))
    }

    /// The level now.
    var level: DaemonLog.Level { fixed ?? configured.withLock { $0 } }

    /// Takes over what a configuration says.
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
