public import DNSSD
import DiscoveryPOSIX

/// A service that stays published until it is withdrawn, or until the last reference to this object is gone.
///
/// It survives every fault of the backend, and once established even a refusal. A rename after a collision is not an
/// error: it appears in `status`.
public final class Publication: Sendable {
    /// The requested service, with what the last `update` changed.
    public var service: OfferedService { core.service }
    /// The current status.
    public var status: PublicationStatus { core.status }
    /// How long it has been in its current state.
    public var timeInState: Duration { core.time.now - status.since }
    /// The status now and after each change.
    public var updates: PublicationUpdates { PublicationUpdates(core: core) }

    private let core: PublicationCore

    init(core: PublicationCore) { self.core = core }

    deinit { core.abandon() }

    /// Waits until the service is announced, however long the backend is away.
    /// - Returns: the name under which it is announced.
    /// - Throws: why publishing was given up; `.closed` if it was withdrawn or the task cancelled.
    public func established() async throws(DiscoveryError) -> ServiceName {
        for await status in updates {
            switch status.state {
            case .established: return status.name
            case .conflicted(let error), .failed(let error): throw error
            case .withdrawn: throw DiscoveryError(.closed, "\(service.name) was withdrawn")
            case .waiting, .registering, .refused: continue
            }
        }
        throw DiscoveryError(.closed, "nobody waits for \(service.name) any more: the task was cancelled")
    }

    /// Announces another TXT record: other hosts see a change, not an end (RFC 6762 §8.4). If the engine cannot do
    /// that, the service is withdrawn and published again.
    /// - Returns: whether the record was taken: false after a final state, and for one that breaks a rule (`TXTRecord.check()`), which changes
    ///   nothing.
    @discardableResult
    public func update(txt: TXTRecord) async -> Bool { await core.update(txt: txt) }

    /// Announces another port and TXT record, as `update(txt:)` does.
    @discardableResult
    package func update(port: Port, txt: TXTRecord) async -> Bool { await core.update(port: port, txt: txt) }

    /// Withdraws the service and waits up to `limit` until goodbyes are sent (RFC 6762 §10.1), even in a cancelled
    /// task.
    /// - Returns: whether they were sent in time.
    @discardableResult
    public func withdraw(waitingAtMost limit: Duration = .seconds(2)) async -> Bool {
        await core.withdraw(waitingAtMost: limit)
    }
}

/// The statuses of a publication, from the current one to a final one.
///
/// Buffers one status: a slow reader misses intermediate ones, never the last.
public struct PublicationUpdates: AsyncSequence, Sendable {
    /// Statuses do not fail.
    public typealias Failure = Never

    let core: PublicationCore

    /// An iterator of its own, from the present status on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core) }

    /// Returns the statuses one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let core: PublicationCore
        private var version: UInt64 = 0

        init(core: PublicationCore) { self.core = core }

        /// The next status; nil after a final one and when the task is cancelled.
        public mutating func next() async -> PublicationStatus? {
            guard let (status, version) = await core.next(after: version) else { return nil }
            self.version = version
            return status
        }

        /// The next status; nil after a final one and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PublicationStatus? {
            guard let (status, version) = await core.next(after: version) else { return nil }
            self.version = version
            return status
        }
    }
}

extension ServiceName {
    /// This machine's name, the default for its services: its host name up to the first dot (gethostname(2)), or
    /// `linux` if that cannot be published.
    public static func ofThisMachine() -> ServiceName {
        guard let label = Environment.hostLabel, let name = try? ServiceName(label) else {
            return ServiceName(observed: "linux")
        }
        return name
    }
}
