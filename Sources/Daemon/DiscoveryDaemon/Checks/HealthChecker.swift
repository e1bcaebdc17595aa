public import DNSSD
public import Discovery
internal import DiscoveryControl
internal import DiscoverySystem

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

extension Health {
    /// Without the reason.
    var state: RegistrationStatus.Health {
        switch self {
        case .unknown: .unknown
        case .passing: .passing
        case .failing: .failing
        }
    }
}

/// Which ports of this network namespace programs have open.
public enum ListeningPorts {
    /// How long one reading is shared by all callers.
    private static let freshness = Duration.seconds(1)

    private struct Look: Sendable {
        let time: ContinuousClock.Instant
        let ports: Set<UInt16>?
    }

    private static let looks = Locked<[ServiceType.Transport: Look]>([:])

    /// Whether a program accepts connections, or UDP datagrams, at a port; nil if the system does not tell. The answer
    /// may be a second old.
    public static func isOpen(_ port: Port, _ transport: ServiceType.Transport) -> Bool? {
        looks.withLock { looks in
            let look: Look
            if let last = looks[transport], last.time.duration(to: .now) < freshness {
                look = last
            } else {
                look = Look(time: .now, ports: open(transport))
                looks[transport] = look
            }
            return look.ports?.contains(port.rawValue)
        }
    }

    /// All open ports; nil if the system does not tell.
    static func open(_ transport: ServiceType.Transport) -> Set<UInt16>? {
        BoundSocket.all(transport).map { ports(transport, of: $0) }
    }

    static func ports(_ transport: ServiceType.Transport, of sockets: [BoundSocket]) -> Set<UInt16> {
        // TCP_LISTEN, and what the kernel shows for a UDP socket that is not connected (<net/tcp_states.h>).
        let state: UInt8 = transport == .tcp ? 10 : 7
        return Set(sockets.lazy.filter { $0.state == state }.map(\.port))
    }
}
