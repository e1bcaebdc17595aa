package import DiscoveryTLS
import PeerIdentity
import Synchronization

/// Questions about keys that are not known, one after the other, for the person at the screen.
package final class KeyQuestions: Sendable {
    /// How many may be open; further ones are answered no.
    private static let maximum = 4
    /// How many keys are remembered that the person does not want.
    private static let unwantedKeys = 256
    /// How long the person may think: the other side's handshake waits for a minute.
    private static let patience = Duration.seconds(55)

    private struct Open {
        let id: Int
        let question: PeerTLS.Question
        let answer: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var open: [Open] = []
        var nextID = 0
        var unwanted: Set<KeyFingerprint> = []
    }

    /// Yields when another question is the current one, or none.
    package let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    package init() { (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// The question to show.
    package var current: PeerTLS.Question? { state.withLock { $0.open.first?.question } }

    /// Waits for the person's answer; no if there is none in time.
    package func ask(_ question: PeerTLS.Question) async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let limit = Task {
            try await Task.sleep(for: Self.patience)
            self.settle(id, false)
        }
        defer { limit.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard !Task.isCancelled, state.open.count < Self.maximum,
                        !state.unwanted.contains(question.key)
                    else { return false }
                    state.open.append(Open(id: id, question: question, answer: continuation))
                    return true
                }
                if isOpen { changed.yield() } else { continuation.resume(returning: false) }
            }
        } onCancel: {
            settle(id, false)
        }
    }

    /// Answers the current question. Whose key the person does not want is not asked about again.
    package func answer(_ isYes: Bool) {
        let id = state.withLock { state -> Int? in
            guard let first = state.open.first else { return nil }
            if !isYes, state.unwanted.count < Self.unwantedKeys { state.unwanted.insert(first.question.key) }
            return first.id
        }
        if let id { settle(id, isYes) }
    }

    /// Answers no to all: there is no time for questions.
    package func dismiss() {
        for open in state.withLock({ $0.open }) { settle(open.id, false) }
    }

    private func settle(_ id: Int, _ isYes: Bool) {
        let open = state.withLock { state in
            state.open.firstIndex { $0.id == id }.map { state.open.remove(at: $0) }
        }
        guard let open else { return }
        open.answer.resume(returning: isYes)
        changed.yield()
    }
}
