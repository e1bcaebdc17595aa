import CommandText
import DiscoveryTLS
import PeerIdentity
import TapRace
import TerminalUI
import Testing

@Suite("Tap race: questions about keys", .timeLimit(.minutes(5)))
struct KeyQuestionsTests {
    private func question(_ number: UInt8) throws -> PeerTLS.Question {
        let key = try #require(KeyFingerprint([UInt8](repeating: number, count: 32)))
        return PeerTLS.Question(name: .label("h\(number)"), key: key, otherNames: [])
    }

    /// Waits until a question is the current one.
    private func isAsked(_ keys: KeyQuestions, _ question: PeerTLS.Question?) async {
        for await _ in keys.changes where keys.current == question { return }
    }

    @Test("one after the other; whose key was not wanted is not asked about again")
    func order() async throws {
        let keys = KeyQuestions()
        let (first, second) = (try question(1), try question(2))
        async let one = keys.ask(first)
        await isAsked(keys, first)
        async let two = keys.ask(second)
        await isAsked(keys, first)
        keys.answer(true)
        #expect(await one)
        #expect(keys.current == second)
        keys.answer(false)
        #expect(await !two)
        #expect(keys.current == nil)
        #expect(await !keys.ask(second))
        keys.answer(true)
    }

    @Test("of many callers four are asked about; all are dismissed at once")
    func many() async throws {
        let keys = KeyQuestions()
        let questions = try (1...5).map { try question($0) }
        await withTaskGroup { group in
            for question in questions { group.addTask { await keys.ask(question) } }
            // The fifth, whichever that is.
            #expect(await group.next() == false)
            keys.dismiss()
            for await answer in group { #expect(!answer) }
        }
        #expect(keys.current == nil)
    }

    @Test("a caller that goes is no question any more")
    func cancelled() async throws {
        let keys = KeyQuestions()
        let asked = try question(1)
        let task = Task { await keys.ask(asked) }
        await isAsked(keys, asked)
        task.cancel()
        #expect(await !task.value)
        #expect(keys.current == nil)
    }

    @Test("the whole key is on the screen, whatever its size", arguments: [30, 80], [12, 24])
    func screen(_ columns: Int, _ rows: Int) throws {
        var canvas = Canvas(ScreenSize(columns: columns, rows: rows))
        let question = try question(7)
        RaceView.question(question.introduction, on: &canvas)
        let text = canvas.text.map { $0.drop { $0 == " " } }.joined()
        #expect(text.contains(question.key.description) && text.contains("@h7"), "\(canvas.text)")
        #expect(canvas.text.contains { $0.contains("y: it is the one") })
    }
}
