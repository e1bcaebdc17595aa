public import DNSSD
public import Discovery

/// Carries out health checks. None of them occupies a thread that tasks share.
public struct HealthChecker: Sendable {
    private let time: any TimeSource

    /// Creates a checker.
    /// - Parameter time: paces the checks; how long one may take is the system's time always.
    public init(time: any TimeSource = SystemTime()) { self.time = time }

    /// Checks at once and then at the interval, until the task is cancelled.
    /// - Parameter report: receives each change of health, one call at a time.
    public func run(_ spec: CheckSpecification, port: Port, report: @Sendable (Health) -> Void) async {
        var state = CheckState(rise: spec.rise, fall: spec.fall)
        var due = time.now
        while !Task.isCancelled {
            let result = await check(spec, port: port)
            guard !Task.isCancelled else { return }
            if let health = state.checked(result, at: time.now) { report(health) }
            // From start to start, so that a slow failure is found no later; what was missed is not caught up with.
            due = max(due + spec.interval, time.now)
            guard (try? await time.sleep(until: due)) != nil else { return }
        }
    }

    /// Checks once, within the specification's time-out.
    public func check(_ spec: CheckSpecification, port: Port) async -> CheckResult {
        guard let probe = Probe(within: spec.timeout) else { return .failed(reason: "no thread to wait in") }
        do throws(ProbeFailure) {
            switch spec.kind {
            case .tcp: try await probe.tcp(port)
            case .http(let path): try await probe.http(path, port)
            case .exec(let command): try await probe.exec(command)
            case .unit(let name): try await probe.unit(name)
            case .pid(let number): try probe.pid(number)
            }
            return .passed
        } catch {
            return .failed(reason: error.reason)
        }
    }
}
