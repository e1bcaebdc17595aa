#if Commands
internal import AvahiEngine
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryDaemon
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Labels
internal import Libc
internal import LocalNames

/// The running daemon, which keeps the service manager informed.
struct RunningDaemon {
    /// How long to wait for the backend's first state before reporting readiness without it.
    private static let firstState = Duration.seconds(2)
    /// The time limit for goodbyes: a daemon is expected to end within 2 s.
    private static let patience = Duration.milliseconds(1850)
    /// How much longer it may take records back from DNS servers that go on answering (`TimeoutStopSec` of the unit is 10 s).
    private static let patienceWithServers = Duration.seconds(6)

    let daemon: Daemon
    let gateways: [Gateway]
    let teller: SiteTeller?
    let sockets: ControlSockets
    let manager: ServiceManager
    let watchdog: Watchdog
    let backend: BackendProbe
    let reloader: Reloader
    let domains: DaemonDomains
    let names: LocalNames?
    let labels: Labels?
    let log: DaemonLog

    /// Serves until the task is cancelled; ends the process if shutting down takes too long.
    func run() async throws {
        await reloader.tellLeftOut(daemon.configurable)
        let socketIsGone = Locked(false)
        let background = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await watchdog.run() }
                group.addTask { await backend.run() }
                group.addTask { await watchSocket(socketIsGone) }
                group.addTask { await reloader.watch(daemon.configurable) }
                group.addTask { await StatusLine(daemon: daemon, manager: manager).run() }
            }
        }
        let isServing = Awaited(false)
        let exports = Task {
            await withDiscardingTaskGroup { group in
                if let labels {
                    group.addTask {
                        // What the administrator has named comes first, and keeps its names.
                        guard await isServing.wait(for: { $0 ? true : nil }) != nil else { return }
                        await labels.run(in: daemon.registry)
                    }
                }
                for gateway in gateways { group.addTask { await gateway.run() } }
                if let teller { group.addTask { await teller.run() } }
            }
        }
        defer {
            background.cancel()
            exports.cancel()
        }
        try await withTaskCancellationHandler {
            try await daemon.run(sockets.listeners) {
                isServing.change { $0 = true }
                // Not awaited: the socket should answer meanwhile.
                Task { await becomeReady() }
            }
        } onCancel: {
            log.notice("ending")
            exports.cancel()
            Task { await names?.stop() }
            manager.stopping()
            // A hung backend must not keep the process alive; whatever it holds for us ends with it.
            Task {
                try? await Task.sleep(for: Self.patience)
                if domains.isEnding { try? await Task.sleep(for: Self.patienceWithServers) }
                daemon.warnOfUnsentGoodbyes()
                sockets.remove()
                exit(DaemonProcess.endStatus.withLock { $0 })
            }
        }
        await names?.stop()
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

/// Keeps the daemon's line in `systemctl status` up to date.
struct StatusLine {
    let daemon: Daemon
    let manager: ServiceManager

    /// Runs until the task is cancelled; returns at once if no service manager listens.
    func run() async {
        guard manager.isPresent else { return }
        var told = ""
        repeat {
            let text = await text
            if text != told { manager.status(text) }
            told = text
        } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    private var text: String {
        get async {
            let states = await daemon.registry.statuses.map(\.state)
            let established = states.count { $0 == .established }
            let published = "\(established) of \(states.count) services published"
            let reasons = daemon.health.reasons
            return reasons.isEmpty ? published : "\(published); not well: \(reasons.joined(separator: "; "))"
        }
    }
}

/// Probes the backend regularly, because a hung one does not report itself: D-Bus waits 25 s for an answer.
struct BackendProbe {
    /// The pause between an answer and the next probe.
    private static let interval = Duration.seconds(10)
    /// Enough for a busy avahi-daemon; one that is stopped never answers.
    private static let patience = Duration.seconds(3)

    let engine: AvahiEngine
    let health: BackendHealth

    /// Runs until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let timer = Task {
                // One that never answered is not missed by itself (`BackendHealth`).
                guard (try? await Task.sleep(for: Self.patience)) != nil, let state = health.state(of: .publisher),
                    state.reason == nil
                else { return }
                health.note(
                    "probe", "avahi-daemon does not answer: it hangs or is stopped (systemctl restart avahi-daemon)"
                )
            }
            await engine.probe()
            timer.cancel()
            _ = await timer.value
            health.note("probe", nil)
        }
    }
}

/// Reports to the service manager that the daemon works: its event loop turns, its tasks run, and the backend's thread returns from D-Bus.
struct Watchdog {
    /// libdbus waits 25 s for an answer, and two calls may follow each other: a thread that is away longer than this is stuck.
    private static let backendPatience = Duration.seconds(90)

    let daemon: Daemon
    let engine: AvahiEngine
    let manager: ServiceManager
    let log: DaemonLog

    /// Runs until the task is cancelled; returns at once if the watchdog is off.
    func run() async {
        guard let interval = manager.watchdogInterval else { return }
        let answered = Locked(ContinuousClock.now)
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    _ = await engine.openObjects
                    answered.withLock { $0 = .now }
                    // However seldom the manager is told: an answer must not be older than `backendPatience` by itself.
                    try? await Task.sleep(for: min(interval, .seconds(10)))
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    // If the event loop is stuck, this never returns and nothing more is reported.
                    await daemon.server.turn()
                    if answered.withLock({ $0 }).duration(to: .now) < Self.backendPatience {
                        manager.keepAlive()
                    } else {
                        log.error("avahi-daemon's thread does not answer: the watchdog is told nothing")
                    }
                    try? await Task.sleep(for: interval)
                }
            }
        }
    }
}
#endif
