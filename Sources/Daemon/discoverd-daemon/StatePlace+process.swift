#if Commands
internal import DiscoveryDaemon
internal import Libc
internal import DiscoverySystem

extension StatePlace {
    /// The state directory of this process.
    init(_ command: DaemonCommand) {
        self.init(
            option: command.state, hasOwnSocket: command.socket != nil, isRoot: geteuid() == 0,
            environment: Environment.value)
    }
}
#endif
