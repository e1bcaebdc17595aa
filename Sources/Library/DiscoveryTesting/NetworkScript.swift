public import DNSSD

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
