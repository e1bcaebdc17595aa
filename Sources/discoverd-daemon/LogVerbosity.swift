internal import DaemonSupport
internal import Discovery
internal import Logging
internal import System

/// How much the log says: as the command line says, else the configuration, which may change while the daemon runs.
final class LogVerbosity: Sendable {
    private let fixed: Logger.Level?
    private let configured: Locked<Logger.Level>

    init(_ fixed: Logger.Level?, _ configuration: DaemonConfiguration) {
        self.fixed = fixed
        configured = Locked(Self.level(configuration))
    }

    /// The level now.
    var level: Logger.Level { fixed ?? configured.withLock { $0 } }

    /// Takes over what a configuration says.
    func configured(_ configuration: DaemonConfiguration) {
        configured.withLock { $0 = Self.level(configuration) }
    }

    private static func level(_ configuration: DaemonConfiguration) -> Logger.Level {
        switch configuration.logLevel {
        case .debug: .debug
        case .info, nil: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
