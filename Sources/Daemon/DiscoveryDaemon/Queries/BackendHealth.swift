package import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// Whether the daemon can work, and why not.
package final class BackendHealth: Sendable {
    /// What the daemon stands on; avahi-daemon may be both.
    package enum Role: CaseIterable, Sendable {
        case finder, publisher
    }

    private struct State {
        var backends: [Role: BackendState] = [:]
        var problems: [String: Problem] = [:]
        /// What is wrong with registrations, by their number.
        var registrations: [String: String] = [:]
        /// How many services are to be published.
        var publications = 0
        var restarts = 0
        var waiters = Waiters()
    }

    private struct Problem {
        let text: String
        /// The same in words that everyone may see.
        let toAll: String
    }

    private let locked = Locked(State())
    private let omissions: @Sendable () -> [String]

    /// - Parameter omissions: what is left out of answers, which is among the reasons.
    package init(omissions: @escaping @Sendable () -> [String] = { [] }) { self.omissions = omissions }

    /// Whether anything is to be published.
    package var publishes: Bool { locked.withLock { $0.publications > 0 } }

    /// Sets the number of services to publish: at zero, a backend that cannot publish is no problem.
    package func note(publications count: Int) { locked.withLock { $0.publications = count } }

    /// How often what publishes came back, or went away for another.
    package var restarts: Int { locked.withLock { $0.restarts } }

    /// The last state of what finds or publishes; nil: none yet.
    package func state(of role: Role) -> BackendState? { locked.withLock { $0.backends[role] } }

    /// Why the daemon is degraded; empty when it is not.
    package var reasons: [String] { reasons(inFull: true) }

    /// - Parameter inFull: with what not everyone may see, such as paths and configuration text.
    package func reasons(inFull: Bool) -> [String] {
        // Outside the lock: they take locks of their own.
        let omissions = omissions()
        return locked.withLock { state in
            Self.absences(state.backends, publishes: state.publications > 0)
                + state.problems.sorted { $0.key < $1.key }.map { inFull ? $0.value.text : $0.value.toAll }
                + Self.summary(of: state.registrations)
                + omissions
        }
    }

    /// Takes note of a state of what finds, publishes or does both.
    package func became(_ backend: BackendState, _ roles: Set<Role>) {
        let wake = locked.withLock { state in
            for role in roles {
                if role == .publisher, backend == .recovered, state.backends[role] != .recovered { state.restarts += 1 }
                state.backends[role] = backend
            }
            return state.waiters.changed()
        }
        wake()
    }

    private static func absences(_ backends: [Role: BackendState], publishes: Bool) -> [String] {
        let (finder, publisher) = (backends[.finder], backends[.publisher])
        if let reason = finder?.reason, reason == publisher?.reason {
            return ["nothing finds or publishes: \(reason)"]
        }
        let finding =
            finder.map { $0.reason.map { ["services cannot be found: \($0)"] } ?? [] }
            ?? ["what finds has not answered yet"]
        // What was never there and is not needed is not missed.
        guard publishes || publisher?.isLoss ?? false else { return finding }
        if publisher == nil, finding.isEmpty { return ["what publishes has not answered yet"] }
        return finding + (publisher?.reason.map { ["services cannot be published: \($0)"] } ?? [])
    }

    /// Notes a problem of a kind, or its end with nil.
    /// - Parameter toAll: the text for peers that may not see the full one.
    package func note(_ kind: String, _ problem: String?, toAll: String? = nil) {
        locked.withLock { $0.problems[kind] = problem.map { Problem(text: $0, toAll: toAll ?? $0) } }
    }

    /// Notes why a registration is refused, or with nil that it no longer is.
    package func note(registration id: String, _ problem: String?) {
        locked.withLock { $0.registrations[id] = problem }
    }

    /// How many kinds of registration problems are listed.
    private static let maximumKinds = 8

    /// One line for each reason.
    private static func summary(of problems: [String: String]) -> [String] {
        let counts = Dictionary(problems.map { ($0.value, 1) }, uniquingKeysWith: +)
        let lines = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
            count == 1 ? "a service is not published: \(reason)" : "\(count) services are not published: \(reason)"
        }
        guard lines.count > maximumKinds else { return lines }
        let rest = counts.values.reduce(0, +)
        return lines.prefix(maximumKinds) + [
            "\(rest) services in all are not published; 'discoverd status --services' says why"
        ]
    }

    /// Waits until something is known of what finds and of what publishes, `limit` at most.
    package func known(within limit: Duration) async {
        await withTimeLimit(limit) { [self] in
            _ = await locked.first(in: \.waiters) { $0.backends.count == Role.allCases.count ? true : nil }
        }
    }
}

extension BackendState {
    fileprivate var isLoss: Bool { if case .lost = self { true } else { false } }
}
