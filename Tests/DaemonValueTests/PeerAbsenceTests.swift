import Testing

@testable import DiscoveryDaemon

/// What another site has told while it is away.
@Suite struct PeerAbsenceTests {
    @Test func countsForTwoMinutes() {
        var absence = PeerAbsence()
        #expect(absence.deadline == nil && absence.counts)
        absence.lost(at: .seconds(10))
        // That it is away still, or again, is no other break.
        absence.lost(at: .seconds(50))
        #expect(absence.deadline == .seconds(130) && absence.counts)
        let ends = [129, 130, 131].map { absence.isOver(at: .seconds($0)) }
        #expect(ends == [false, true, false], "once")
        #expect(absence.deadline == nil && !absence.counts)
        absence.lost(at: .seconds(200))
        #expect(absence.deadline == nil && !absence.counts)
        let again = [absence.told(), absence.told()]
        #expect(again == [true, false] && absence.counts, "all of it is to be published again, once")
    }

    @Test func aBreakEndsWhenAllWasTold() {
        var absence = PeerAbsence()
        absence.lost(at: .zero)
        let again = absence.told()
        #expect(!again, "nothing was withdrawn")
        let isOver = absence.isOver(at: .seconds(500))
        #expect(absence.deadline == nil && !isOver)
        absence.lost(at: .seconds(600))
        #expect(absence.deadline == .seconds(720))
    }
}
