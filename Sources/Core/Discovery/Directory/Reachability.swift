package import DNSSD
import DiscoveryPOSIX

/// Keeps track of announced services that could not be reached, and tries each again after 1, 2, 4 … 60 s until it
/// answers.
///
/// Bounded: at most 64 services, one task each, and 5 minutes for a service that no one asks for.
package final class Reachability: Sendable {
    /// The most services that are marked at a time; further ones are not.
    package static let capacity = 64
    /// How long to keep trying a service that no query lists and no one connects to.
    package static let patience: Duration = .seconds(300)
    private static let longestDelay: Duration = .seconds(60)

    private struct Mark {
        var lastWanted: Duration
        var task: Task<Void, Never>?
    }

    private struct State {
        var marks: [ServiceInstance: Mark] = [:]
        var isShutDown = false
    }

    private let time: any TimeSource
    private let state = Locked(State())

    init(time: any TimeSource) { self.time = time }

    deinit { shutDown() }

    /// The services that are marked as unreachable.
    package var marked: Set<ServiceInstance> { state.withLock { Set($0.marks.keys) } }

    /// Returns whether a service is marked; the call counts as interest in it.
    package func isMarked(_ instance: ServiceInstance) -> Bool {
        state.withLock { state in
            state.marks[instance]?.lastWanted = time.now
            return state.marks[instance] != nil
        }
    }

    /// Marks a service and tries it again until `answers` returns true, or no query lists it and no one asks for it.
    ///
    /// The task is unstructured because no caller owns it: the caller whose attempt failed has moved on.
    /// - Parameters:
    ///   - instance: the service.
    ///   - isListed: returns whether a query lists the service.
    ///   - answers: tries to connect; returns whether that succeeded.
    ///   - whenOver: called without a lock when the task removes the mark.
    /// - Returns: whether this call set the mark.
    func mark(
        _ instance: ServiceInstance,
        isListed: @escaping @Sendable () -> Bool,
        answers: @escaping @Sendable () async -> Bool,
        whenOver: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            guard !state.isShutDown, state.marks[instance] == nil, state.marks.count < Self.capacity else {
                return false
            }
            let now = time.now
            let task = Task { [weak self, time] in
                var delay = Duration.seconds(1)
                // From when it is marked, however late the task begins.
                var next = now + delay
                while (try? await time.sleep(until: next)) != nil {
                    guard self?.isWanted(instance, isListed: isListed()) == true else { break }
                    if await answers() { break }
                    delay = min(delay * 2, Self.longestDelay)
                    next = time.now + delay
                }
                guard !Task.isCancelled, self?.clear(instance) == true else { return }
                whenOver()
            }
            state.marks[instance] = Mark(lastWanted: now, task: task)
            return true
        }
    }

    /// Removes the mark of a service and ends its task.
    /// - Returns: whether there was a mark.
    func clear(_ instance: ServiceInstance) -> Bool {
        let mark = state.withLock { $0.marks.removeValue(forKey: instance) }
        mark?.task?.cancel()
        return mark != nil
    }

    package func shutDown() {
        let marks = state.withLock { state in
            state.isShutDown = true
            defer { state.marks = [:] }
            return state.marks
        }
        for mark in marks.values { mark.task?.cancel() }
    }

    private func isWanted(_ instance: ServiceInstance, isListed: Bool) -> Bool {
        state.withLock { state in
            if isListed { state.marks[instance]?.lastWanted = time.now }
            guard let mark = state.marks[instance] else { return false }
            return time.now < mark.lastWanted + Self.patience
        }
    }
}

extension Directory {
    /// Marks an announced service that could not be reached at any address; every subscriber gets a change.
    /// - Parameters:
    ///   - instance: the service.
    ///   - answers: tries to connect again; returns whether that succeeded.
    package func couldNotReach(_ instance: ServiceInstance, answers: @escaping @Sendable () async -> Bool) {
        let isNew = reachability.mark(
            instance, isListed: { [weak self] in self?.lists(instance) ?? false }, answers: answers,
            whenOver: { [weak self] in self?.tell(instance) })
        guard isNew else { return }
        engine.couldNotReach(instance)
        tell(instance)
    }

    /// Removes the mark of a service after a connection to it; if there was one, every subscriber gets a change.
    package func reached(_ instance: ServiceInstance) {
        if reachability.clear(instance) { tell(instance) }
    }

    /// Returns whether any open query lists the service.
    package func lists(_ instance: ServiceInstance) -> Bool { services.contains { $0.lists(instance) } }

    /// Another process could not reach a service: what is known of it is verified, and nothing is reported before that.
    package func verify(_ instance: ServiceInstance) { engine.couldNotReach(instance) }

    /// Tells what is so when it is told, not what made it so: whoever marks a service may be overtaken by whoever reaches it.
    private func tell(_ instance: ServiceInstance) {
        services.amendAll {
            $0.reachability(of: instance, isUnreachable: reachability.marked.contains(instance), now: $1)
        }
    }
}

extension Catalog {
    /// Returns whether the service is listed.
    package func lists(_ instance: ServiceInstance) -> Bool { entries[instance] != nil }

    /// Takes in whether a service could be reached.
    package mutating func reachability(
        of instance: ServiceInstance,
        isUnreachable: Bool,
        now: Duration
    ) -> [Change<DiscoveredService>] {
        if isUnreachable { unreachable.insert(instance) } else { unreachable.remove(instance) }
        return lists(instance) ? evaluate([instance], now: now) : []
    }
}
