import Synchronization

/// What a running program has printed, and how it ended; tests wait for it to change.
final class ProcessOutput: Sendable {
    struct State {
        var lines: [LabProcess.Output: [String]] = [:]
        var cursor: [LabProcess.Output: Int] = [:]
        var ended: Set<LabProcess.Output> = []
        var exit: LabProcess.Exit?
        fileprivate var version = 0
        fileprivate var waiting: [CheckedContinuation<Void, Never>] = []

        /// The next matching line after the cursor, which then moves; `.some(nil)` if no more can come.
        mutating func next(_ stream: LabProcess.Output, _ matches: (String) -> Bool) -> String?? {
            let all = lines[stream] ?? []
            let from = cursor[stream] ?? 0
            if let index = all[from...].firstIndex(where: matches) {
                cursor[stream] = index + 1
                return .some(all[index])
            }
            return ended.contains(stream) ? .some(nil) : nil
        }
    }

    private let state = Mutex(State())

    func lines(_ stream: LabProcess.Output) -> [String] { state.withLock { $0.lines[stream] ?? [] } }

    /// Adds a line; nil marks the end of the stream.
    func append(_ line: String?, to stream: LabProcess.Output) {
        change { state in
            if let line { state.lines[stream, default: []].append(line) } else { state.ended.insert(stream) }
        }
    }

    /// Reaps under the lock, so that no signal reaches a reused process id.
    func end(_ reap: () -> LabProcess.Exit) {
        let exit = reap
        change { $0.exit = exit() }
    }

    func whileAlive(_ body: () -> Void) { state.withLock { if $0.exit == nil { body() } } }

    /// Runs `probe` after each change until it returns a value; nil if it has not by the limit.
    func first<Value: Sendable>(within limit: Duration, _ probe: (inout State) -> Value?) async -> Value? {
        let deadline = ContinuousClock.now + limit
        let alarm = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            change { _ in }
        }
        defer { alarm.cancel() }
        while true {
            let (found, version) = state.withLock { (probe(&$0), $0.version) }
            if let found { return found }
            guard ContinuousClock.now < deadline, !Task.isCancelled else { return nil }
            await change(after: version)
        }
    }

    private func change(after version: Int) async {
        await withCheckedContinuation { continuation in
            let changed = state.withLock { state in
                if state.version == version { state.waiting.append(continuation) }
                return state.version != version
            }
            if changed { continuation.resume() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let woken = state.withLock { state in
            body(&state)
            state.version += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in woken { continuation.resume() }
    }
}
