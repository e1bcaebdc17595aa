import DiscoverySystem

/// Runs jobs that block for a few milliseconds each, a few per turn of the loop, so that a thousand registrations do not delay answers,
/// ends and signals. Used only on the loop's thread.
final class BoundedWorkQueue {
    private static let perTurn = 16

    private var work: [() -> Void] = []
    private var head = 0
    private let timer: LoopTimer

    init(loop: EventLoop) {
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.turn() }
    }

    func add(_ block: @escaping () -> Void) {
        work.append(block)
        if timer.deadline == nil { timer.set(after: .zero) }
    }

    func free() {
        work = []
        head = 0
        timer.free()
    }

    private func turn() {
        let end = min(work.count, head + Self.perTurn)
        while head < end, head < work.count {
            let block = work[head]
            head += 1
            block()
        }
        if head >= work.count {
            work = []
            head = 0
        } else {
            timer.set(after: .zero)
        }
    }
}
