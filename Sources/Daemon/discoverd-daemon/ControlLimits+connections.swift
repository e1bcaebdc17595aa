#if Commands
internal import DiscoveryDaemon
internal import Libc

extension ControlLimits {
    /// As many connections as the descriptor limit allows, less a reserve for the backend, files and checks.
    var connections: ConnectionTable.Limits {
        var limits = ConnectionTable.Limits()
        var files = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        let room = max(4, Int(clamping: files.rlim_cur) - 24)
        limits.clients = min(clients, room)
        limits.perUser = min(clientsPerUser, limits.clients)
        limits.requestBytes = requestBytes
        limits.watchBytes = watchQueueBytes
        limits.forRoot = max(limits.clients * 3 / 4, 1)
        return limits
    }
}
#endif
