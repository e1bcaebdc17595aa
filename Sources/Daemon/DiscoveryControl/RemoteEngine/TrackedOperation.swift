import DNSSD
import Discovery
import DiscoverySystem

/// An operation that its engine tracks until it ends; it ends once.
final class TrackedOperation: PublicationOperation {
    private let idBox = Locked<UInt64>(0)
    /// What it is an operation of.
    let operation: any EngineOperation
    private let isEnded = Locked(false)
    private let forget: @Sendable (UInt64) -> Void

    init(_ operation: any EngineOperation, _ forget: @escaping @Sendable (UInt64) -> Void) {
        self.operation = operation
        self.forget = forget
    }

    var id: UInt64 {
        get { idBox.withLock { $0 } }
        set { idBox.withLock { $0 = newValue } }
    }

    private func end() -> Bool {
        isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
    }

    func update(txt: TXTRecord) -> Bool {
        guard !isEnded.withLock({ $0 }) else { return true }
        return (operation as? any PublicationOperation)?.update(txt: txt) ?? false
    }

    func cancel() {
        guard end() else { return }
        operation.cancel()
        forget(id)
    }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        guard end() else { return true }
        let isDone = await operation.cancel(waitingAtMost: limit)
        forget(id)
        return isDone
    }
}
