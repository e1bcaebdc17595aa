#if Commands
internal import DiscoveryDaemon
internal import Discovery
internal import Libc
internal import DiscoverySystem

/// The running daemon, which keeps the service manager informed.
struct RunningDaemon {
    /// How long to wait for the backend's first state before reporting readiness without it.
    private static let firstState = Duration.seconds(2)
    /// The time limit for goodbyes: a daemon is expected to end within 2 s.
    private static let patience = Duration.milliseconds(1850)

    let daemon: Daemon
    let gateways: [Gateway]
    let sockets: ControlSockets
    let manager: ServiceManager
    let watchdog: Watchdog
    let heartbeat: Heartbeat
    let reloader: Reloader
    let log: DaemonLog

    /// Serves until the task is cancelled; ends the process if shutting down takes too long.
    func run() async throws {
        await reloader.tellLeftOut(daemon.configurable)
        let socketIsGone = Locked(false)
        let background = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await watchdog.run() }
                group.addTask { await heartbeat.run() }
                group.addTask { await watchSocket(socketIsGone) }
                group.addTask { await reloader.watch(daemon.configurable) }
                group.addTask { await StatusLine(daemon, manager).run() }
                for gateway in gateways { group.addTask { await gateway.run() } }
            }
        }
        defer { background.cancel() }
        try await withTaskCancellationHandler {
            try await daemon.run(sockets.listeners) {
                // Not awaited: the socket should answer meanwhile.
                Task { await becomeReady() }
            }
        } onCancel: {
            log.notice("ending")
            manager.stopping()
            // A hung backend must not keep the process alive; whatever it holds for us ends with it.
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

    /// Reports readiness once the socket answers and the backend's state is known. A missing backend must not delay the start.
    private func becomeReady() async {
        await daemon.health.known(within: Self.firstState)
        log.notice("serving \(sockets.path)")
        manager.ready()
    }

    /// Ends the daemon if its socket is removed: no one could reach it, and its supervisor will start it again.
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
