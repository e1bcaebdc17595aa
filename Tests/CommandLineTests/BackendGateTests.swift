import CommandFrame
import DNSSD
import Discovery
import Testing

@testable import DiscoverdCommands

@Suite("Whether the backend of a command that follows has answered") struct BackendGateTests {
    /// Answers a question as often as it is told to.
    private actor Daemon {
        private var answers: Int
        private(set) var questions = 0

        init(answers: Int) { self.answers = answers }

        func finds() -> Bool {
            questions += 1
            return questions <= answers
        }
    }

    private func ended(_ stop: Stop) async {
        await withCheckedContinuation { continuation in stop.onRequest { continuation.resume() } }
    }

    @Test("it stays silent: the command goes on as long as the daemon finds all the same", arguments: [0, 3])
    func silent(answers: Int) async {
        let (stop, daemon) = (Stop(), Daemon(answers: answers))
        let gate = BackendGate(stop, Invocation.Patience(absence: .seconds(60), silence: .milliseconds(5))) {
            await daemon.finds()
        }
        await ended(stop)
        #expect(stop.cause == .noBackend && !gate.isOpen)
        #expect(await daemon.questions == answers + 1)
    }

    @Test("it is away: the command ends, whatever the daemon finds")
    func absent() async {
        let stop = Stop()
        var gate = BackendGate(stop, Invocation.Patience(absence: .milliseconds(5), silence: .seconds(60))) { true }
        gate.note(.unavailable("gone"))
        await ended(stop)
        #expect(stop.cause == .noBackend && gate.reason == "gone")
    }

    @Test("it has answered: nothing ends the command any more")
    func answered() async {
        let (stop, later) = (Stop(), Stop())
        let patience = Invocation.Patience(absence: .milliseconds(5), silence: .milliseconds(5))
        var gate = BackendGate(stop, patience) { false }
        gate.note(.unavailable("not yet"))
        gate.note(.available)
        #expect(gate.isOpen && gate.reason == nil)
        // Whose time is over after that of the first.
        var silent = BackendGate(later, Invocation.Patience(absence: .milliseconds(50), silence: .seconds(60))) {
            false
        }
        silent.note(.unavailable("gone"))
        await ended(later)
        #expect(stop.cause == nil)
    }
}
