import FileDropCore
import Testing

@Suite("Places for transfers")
struct SeatingTests {
    private func seating(_ answers: inout [Seating.Answer], _ guests: (UInt64, known: Bool)...) -> Seating {
        var seating = Seating(limit: 4, strangers: 2)
        for (id, isKnown) in guests { answers.append(seating.enter(id, isKnown: isKnown)) }
        return seating
    }

    @Test(
        "strangers have no more than their share; those who are known have the rest, and the places of silent strangers"
    )
    func shares() {
        var answers: [Seating.Answer] = []
        var seating = seating(&answers, (1, false), (2, false), (3, false), (4, true), (5, true))
        #expect(answers == [.enters, .enters, .full, .enters, .enters])
        seating.introduced(1)
        answers = [6, 7].map { seating.enter($0, isKnown: true) }
        // The first has introduced itself: it stays.
        #expect(answers == [.entersInPlaceOf(2), .full])
        // Who was displaced leaves once more, and takes no one's place along.
        seating.leave(2)
        answers = [seating.enter(8, isKnown: true)]
        #expect(answers == [.full])
        seating.leave(4)
        answers = [seating.enter(9, isKnown: false), seating.enter(10, isKnown: true)]
        #expect(answers == [.enters, .entersInPlaceOf(9)])
    }

    @Test("a stranger who is let in leaves its share to others")
    func admitted() {
        var answers: [Seating.Answer] = []
        var seating = seating(&answers, (1, false), (2, false), (3, false))
        #expect(answers == [.enters, .enters, .full])
        seating.admitted(1)
        answers = [4, 5].map { seating.enter($0, isKnown: false) }
        #expect(answers == [.enters, .full])
        answers = [6, 7, 8].map { seating.enter($0, isKnown: true) }
        #expect(answers == [.enters, .entersInPlaceOf(2), .entersInPlaceOf(4)])
    }
}
