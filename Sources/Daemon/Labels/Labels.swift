internal import Discovery
internal import DiscoveryControl
package import DiscoveryDaemon
internal import DiscoverySystem

/// Publishes what containers and units say of themselves, while they run.
package final class Labels: Sendable {
    /// Between two changes of what is published, so that many changes are one.
    private static let pause = Duration.milliseconds(100)

    private let sources: [LabelSource]
    private let board: Awaited<LabelBoard>
    private let log: DaemonLog
    private let time = SystemTime()

    /// - Returns: nil where nobody's labels are published.
    package init?(_ sources: [LabelSource], _ grants: LabelGrants, _ log: DaemonLog) {
        guard !sources.isEmpty else { return nil }
        self.sources = sources
        self.log = log
        board = Awaited(LabelBoard(sources, grants))
    }

    /// How each source stands.
    package var statuses: [LabelStatus] { board.value.statuses(of: sources) }

    /// Follows the sources until the task is cancelled. What is published then ends with the registry.
    package func run(in registry: Registry) async {
        let stop = sources.filter { $0 != .traefik }.map { ($0, StopBell()) }
        for (source, bell) in stop { start(source, bell) }
        var seen: UInt64?
        var alarm: Task<Void, Never>?
        while let version = await board.wait(for: { [seen] in $0.version == seen ? nil : $0.version }) {
            seen = version
            let now = time.now
            let turn = board.change { $0.turn(at: now) }
            for line in turn.news { line.isTrouble ? log.warning(line.text) : log.notice(line.text) }
            await registry.offer(turn.requests, from: .labels)
            alarm?.cancel()
            alarm = turn.next.map { next in
                Task { [time, board] in
                    guard (try? await time.sleep(until: next)) != nil else { return }
                    board.change { $0.wake() }
                }
            }
            guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
        }
        alarm?.cancel()
        for (_, bell) in stop { bell.ring() }
    }

    private func start(_ source: LabelSource, _ stop: StopBell) {
        let (board, readsTraefik) = (board, sources.contains(.traefik))
        let code = SystemThread.start(named: source.rawValue) {
            guard source != .systemd else {
                var follower = UnitFollower(board, stop)
                return follower.run()
            }
            var follower = RuntimeFollower(source, readsTraefik: readsTraefik, board, stop)
            follower.run()
        }
        if code != 0 { log.error("labels of \(source.rawValue) are not followed: the system has no thread") }
    }
}
