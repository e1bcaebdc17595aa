import Discovery
import DiscoverySystem

/// Collects an operation's facts during one turn of the loop and reports them together. Used only on the loop's thread.
final class FactBatch<Fact: Sendable> {
    private let loop: EventLoop
    private let report: ([Fact]) -> Void
    private var facts: [Fact] = []

    init(on loop: EventLoop, _ report: @escaping ([Fact]) -> Void) {
        self.loop = loop
        self.report = report
    }

    func add(_ fact: Fact) {
        facts.append(fact)
        guard facts.count == 1 else { return }
        LoopBound(to: loop, self).post { $0.flush() }
    }

    /// The operation has ended; nothing more is reported.
    func end() { facts = [] }

    private func flush() {
        guard !facts.isEmpty else { return }
        let batch = facts
        facts = []
        report(batch)
    }
}
