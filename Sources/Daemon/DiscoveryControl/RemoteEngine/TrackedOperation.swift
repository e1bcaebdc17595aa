import DNSSD
import Discovery
import DiscoverySystem

/// An operation that its engine tracks until it ends; it ends once.
final class TrackedOperation: PublicationOperation {
    /// What it is an operation of.
    let operation: any EngineOperation
    private let forget: Locked<(@Sendable () -> Void)?>

    init(_ operation: any EngineOperation, _ forget: @escaping @Sendable () -> Void) {
        (self.operation, self.forget) = (operation, Locked(forget))
    }

    func update(txt: TXTRecord) -> Bool {
        guard forget.withLock({ $0 != nil }) else { return true }
        return (operation as? any PublicationOperation)?.update(txt: txt) ?? false
    }

    func cancel() {
        guard let forget = forget.exchange(nil) else { return }
        operation.cancel()
        forget()
    }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        guard let forget = forget.exchange(nil) else { return true }
        defer { forget() }
        return await operation.cancel(waitingAtMost: limit)
    }
}
