#if Commands
internal import DiscoveryDaemon
internal import Glibc

extension StatePlace {
    /// Of this process.
    init(_ command: DaemonCommand) {
        self.init(option: command.state, hasOwnSocket: command.socket != nil, isRoot: geteuid() == 0) { name in
            guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else {
                return nil
            }
            return value
        }
    }
}
#endif
