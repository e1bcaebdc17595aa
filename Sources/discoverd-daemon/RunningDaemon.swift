#if Commands
internal import DaemonSupport
internal import Discovery
internal import DiscoveryDaemon
internal import Glibc
internal import System

/// The daemon while it runs: the service manager is told how it is.
struct RunningDaemon {
    /// How long the backend has to tell its first state before the daemon counts as started without.
    private static let firstState = Duration.seconds(2)
    /// How long goodbyes may take: a daemon is expected to end within 2 s.
    private static let patience = Duration.milliseconds(1850)

    let daemon: Daemon
    let sockets: ControlSockets
    let manager: ServiceManager
    let watchdog: Watchdog
    let heartbeat: Heartbeat
    let log: DaemonLog

    /// Serves until the task is cancelled, and ends the process when that takes too long.
    func run() async throws {
        let socketIsGone = Locked(false)
        let background = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await watchdog.run() }
                group.addTask { await heartbeat.run() }
                group.addTask { await watchSocket(socketIsGone) }
                group.addTask { await StatusLine(daemon, manager).run() }
            }
        }
        defer { background.cancel() }
        try await withTaskCancellationHandler {
            try await daemon.run(sockets.listeners) {
                // Not waited for: the socket is to answer meanwhile.
                Task { await becomeReady() }
            }
        } onCancel: {
            log.notice("ending")
            manager.stopping()
            // A backend that hangs must not keep the process: what it holds of ours ends with it.
            Task {
                try? await Task.sleep(for: Self.patience)
                daemon.warnOfUnsentGoodbyes()
                sockets.remove()
                exit(DaemonProcess.endStatus.withLock { $0 })
            }
        }
        if socketIsGone.withLock({ $0 }) {
            throw Failure(status: 1, message: "the control socket was removed by somebody")
        }
    }

    /// Ready when the socket answers and what is known of the backend is known; a missing one must not delay the start.
    private func becomeReady() async {
        await daemon.health.known(within: Self.firstState)
        log.notice("serving \(sockets.path)")
        manager.ready()
    }

    /// Ends the daemon when somebody removed the socket: nobody could reach it, and whoever supervises it starts it anew.
    private func watchSocket(_ isGone: Locked<Bool>) async {
        while (try? await Task.sleep(for: .seconds(2))) != nil {
            guard !sockets.isThere else { continue }
            isGone.withLock { $0 = true }
            daemon.server.stop()
            return
        }
    }
}
#endif
