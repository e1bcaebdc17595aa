/// Looks again until there is what is waited for: for state of the kernel and of programs that report no change. What reports is waited for
/// by its lines (`LabProcess.line`, `LabProcess.until`).
/// - Parameters:
///   - pause: between two looks. One that starts programs takes a processor from the other tests.
///   - missed: what was not there in time.
@discardableResult
func eventually<Found>(
    within limit: Duration, every pause: Duration = .milliseconds(20), _ missed: @autoclosure () -> String,
    _ look: () async throws -> Found?
) async throws -> Found {
    let end = ContinuousClock.now + limit
    while true {
        if let found = try await look() { return found }
        guard ContinuousClock.now < end else {
            throw LabProcess.Missed(description: "not within \(limit): \(missed())")
        }
        try await Task.sleep(for: pause)
    }
}

extension LabProcess {
    /// Waits until all that it has printed holds what is looked for.
    @discardableResult
    func until<Found>(
        _ what: String, within limit: Duration = .seconds(30), _ look: ([String]) -> Found?
    ) async throws -> Found {
        let end = ContinuousClock.now + limit
        while true {
            let lines = lines()
            if let found = look(lines) { return found }
            guard ContinuousClock.now < end else { throw missed("\(what) was not seen within \(limit)") }
            await waitForLines(beyond: lines.count, within: ContinuousClock.now.duration(to: end))
        }
    }
}
