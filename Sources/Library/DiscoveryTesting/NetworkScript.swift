public import DNSSD
import Discovery

/// What happens to a simulated network, and when: `SimulatedNetwork.play(_:)` begins it, `advance(by:)` turns the time.
public struct NetworkScript: Hashable, Sendable {
    /// Something that happens to the network.
    public enum Step: Hashable, Sendable {
        /// As `SimulatedNetwork.partition(_:)`.
        case partition([[String]])
        /// As `SimulatedNetwork.heal()`.
        case heal
        /// As `SimulatedNetwork.setLoss(_:)`.
        case loss(Double)
        /// As `SimulatedNetwork.setDelay(_:of:)`.
        case delay(Duration, of: String? = nil)
        /// As `SimulatedNetwork.claim(_:)`.
        case conflict(ServiceInstance)
        /// As `SimulatedNetwork.release(_:)`.
        case release(ServiceInstance)
        /// As `SimulatedNetwork.setLink(_:of:isUp:)`.
        case link(String, of: String, isUp: Bool)
        /// As `SimulatedNetwork.stopBackend(of:sayingGoodbye:)` and `startBackend(of:)`.
        case backend(of: String, isUp: Bool)
    }

    /// A step with its time, counted from when the script begins.
    public struct Cue: Hashable, Sendable {
        /// When it happens, in `advance(by:)`; what is negative happens with the next.
        public var time: Duration
        /// What happens.
        public var step: Step

        /// A step with its time.
        public init(at time: Duration, _ step: Step) { (self.time, self.step) = (time, step) }
    }

    /// The steps. Those of one time happen in the order that they have here.
    public var cues: [Cue]

    /// Creates a script.
    public init(_ cues: [Cue]) { self.cues = cues }
}

extension NetworkScript: ExpressibleByArrayLiteral {
    /// `[.init(at: .seconds(5), .heal)]`
    public init(arrayLiteral cues: Cue...) { self.init(cues) }
}

// What becomes of a network while time passes: by hand, or by a script.
extension SimulatedNetwork {
    /// Sets how much of what machines say of their services is lost to others, from 0 to 0.99. What is lost is heard when it is asked for again,
    /// after 1, 3, 9, 27, 81, 243 and 729 s. Which of it is decided by the network's seed.
    public func setLoss(_ share: Double) {
        let share = share.isFinite ? share : 0
        changeNow { $0.conditions.loss = min(max(share, 0), SimulatedConditions.greatestLoss) }
    }

    /// Sets after what time a machine hears what others say; nil for all machines that have no time of their own.
    public func setDelay(_ delay: Duration, of machine: String? = nil) {
        let delay = max(delay, .zero)
        changeNow { world in
            if let machine { world.conditions.delays[machine] = delay } else { world.conditions.delay = delay }
        }
    }

    /// A host outside the network takes a name: its publisher is renamed, or reports a conflict (RFC 6762 §9).
    public func claim(_ instance: ServiceInstance) { changeNow { $0.claimOutside(instance) } }

    /// The name is free again. A publication that was renamed stays so.
    public func release(_ instance: ServiceInstance) { changeNow { $0.releaseOutside(instance) } }

    /// Begins a script; several may run at once. Its steps happen in `advance(by:)`.
    public func play(_ script: NetworkScript) { schedule(script.cues) }

    /// Turns the network's clock, step by step: the steps of scripts happen, and what is due is delivered, each at its time. Sleepers of the
    /// clock wake; what their tasks do then may come after this has returned. With `Delivery.automatic` so may what is delivered: a script wants
    /// `.byHand`. What was on its way when a partition began is still heard.
    /// - Returns: how many reports were delivered, with `Delivery.byHand`.
    @discardableResult
    public func advance(by duration: Duration) -> Int {
        let end = time.now + max(duration, .zero)
        var count = deliverDue()
        while let next = nextEvent(before: end) {
            time.advance(by: max(next - time.now, .zero))
            for step in takeSteps() { perform(step) }
            count += deliverDue()
        }
        time.advance(by: max(end - time.now, .zero))
        return count
    }

    private func perform(_ step: NetworkScript.Step) {
        switch step {
        case .partition(let groups): partition(groups)
        case .heal: heal()
        case .loss(let share): setLoss(share)
        case .delay(let delay, let machine): setDelay(delay, of: machine)
        case .conflict(let instance): claim(instance)
        case .release(let instance): release(instance)
        case .link(let interface, let machine, let isUp): setLink(interface, of: machine, isUp: isUp)
        case .backend(let machine, let isUp):
            if isUp { startBackend(of: machine) } else { stopBackend(of: machine) }
        }
    }
}
