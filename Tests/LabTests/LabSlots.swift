import Foundation
import Synchronization

/// Limits how many process tests run at a time. They sleep more than they work, so while the machine is idle enough, more of them run than
/// there are processors. Tests that want to be alone come last.
final class LabSlots: Sendable {
    static let shared = LabSlots()

    /// How many may always run.
    private let assured: Int
    /// How many may run while the machine is idle enough.
    private let most: Int
    private let state = Mutex(State())

    /// Another test may start if this share of the processors' time was idle.
    private static let wantedIdle = 0.2
    /// How often to look at the machine, and the least time between two tests admitted because it is idle.
    private static let interval = Duration.milliseconds(300)
    /// A file that exists while other tests run beside these (Tests/run).
    private static let besides = ProcessInfo.processInfo.environment["LAB_BESIDES"]

    private struct State {
        var running = 0
        var isTaken = false
        var shared: [CheckedContinuation<Void, Never>] = []
        var exclusive: [CheckedContinuation<Void, Never>] = []
        var isWatching = false
        /// Whether the machine was idle enough when it was last looked at.
        var wasIdle = false

        var isWaiting: Bool { !shared.isEmpty || !exclusive.isEmpty }
    }

    /// - Parameter environment: `LAB_SLOTS` sets the maximum.
    init(
        processors: Int = ProcessInfo.processInfo.activeProcessorCount,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        most = environment["LAB_SLOTS"].flatMap(Int.init) ?? max(3, processors * 10)
        assured = min(most, 2 * processors)
    }

    /// Waits until the test may run.
    func take(_ turn: LabSlot.Turn) async {
        await withCheckedContinuation { continuation in
            let begins = state.withLock { state in
                switch turn {
                case .first: state.shared.insert(continuation, at: 0)
                case .usual: state.shared.append(continuation)
                case .alone: state.exclusive.append(continuation)
                }
                defer { state.isWatching = true }
                return !state.isWatching
            }
            letIn(becauseIdle: false)
            if begins { Task { await watch() } }
        }
    }

    /// The test is over: another takes its place, unless the machine is too busy for as many.
    func give(_ turn: LabSlot.Turn) {
        let wasIdle = state.withLock { state in
            if turn == .alone { state.isTaken = false } else { state.running -= 1 }
            return state.wasIdle
        }
        letIn(becauseIdle: wasIdle)
    }

    /// Watches the machine until no test waits.
    private func watch() async {
        var usage = ProcessorTime()
        while true {
            try? await Task.sleep(for: Self.interval)
            let now = ProcessorTime()
            let isIdle = now.idle(since: usage) >= Self.wantedIdle
            state.withLock { $0.wasIdle = isIdle }
            letIn(becauseIdle: isIdle)
            usage = now
            let isOver = state.withLock { state in
                state.isWatching = state.isWaiting
                return !state.isWatching
            }
            if isOver { return }
        }
    }

    private func letIn(becauseIdle: Bool) {
        let room = becauseIdle ? 1 : 0
        let isAlone = Self.besides.map { !FileManager.default.fileExists(atPath: $0) } ?? true
        let next: [CheckedContinuation<Void, Never>] = state.withLock { state in
            guard !state.isTaken else { return [] }
            if state.shared.isEmpty {
                guard isAlone, state.running == 0, !state.exclusive.isEmpty else { return [] }
                state.isTaken = true
                return [state.exclusive.removeFirst()]
            }
            let limit = min(most, max(assured, state.running + room))
            let count = min(max(0, limit - state.running), state.shared.count)
            defer { state.shared.removeFirst(count) }
            state.running += count
            return Array(state.shared.prefix(count))
        }
        for continuation in next { continuation.resume() }
    }
}

/// Processor time since the machine started (proc_stat(5)), in ticks.
private struct ProcessorTime {
    private var all = 0
    private var idle = 0

    init() {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let line = text.split(separator: "\n").first
        else { return }
        // user nice system idle iowait irq softirq steal; the remaining fields are included in these.
        let times = line.split(separator: " ").dropFirst().prefix(8).compactMap { Int($0) }
        guard times.count == 8 else { return }
        all = times.reduce(0, +)
        idle = times[3] + times[4]
    }

    /// The idle share, from 0 to 1.
    func idle(since earlier: ProcessorTime) -> Double {
        all > earlier.all ? Double(idle - earlier.idle) / Double(all - earlier.all) : 0
    }
}
