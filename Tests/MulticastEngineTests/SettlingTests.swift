import MulticastEngine
import Testing

@Suite("Settling")
struct SettlingTests {
    private let start = Duration.seconds(10)

    private func at(_ milliseconds: Int) -> Duration { start + .milliseconds(milliseconds) }

    @Test("Quick: half a second after the last news, without a second question")
    func quick() {
        var settling = Settling(.quick, at: start)
        #expect(settling.deadline == at(6000))
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(90))
        settling.news(at: at(130))
        #expect(settling.deadline == at(630))
        #expect(!settling.isSettled(at: at(629)))
        #expect(settling.isSettled(at: at(630)))
    }

    @Test("Quick waits for the second question where nothing was found, or packets were lost")
    func quickWithLoss() {
        for isLossy in [false, true] {
            var settling = Settling(.quick, at: start)
            settling.asked(isTruncated: false, at: at(50))
            if isLossy {
                settling.news(at: at(100))
                settling.lost()
            }
            #expect(settling.deadline == at(6000))
            settling.asked(isTruncated: false, at: at(1050))
            #expect(settling.deadline == at(1200))
        }
    }

    @Test("Sure: 150 ms without news after the second question, 600 where known answers took several packets")
    func sure() {
        var settling = Settling(.sure, at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(100))
        #expect(!settling.isSettled(at: at(1000)))
        settling.asked(isTruncated: true, at: at(1050))
        #expect(settling.deadline == at(1650))
        settling.news(at: at(1500))
        #expect(settling.deadline == at(2100))
        settling.asked(isTruncated: false, at: at(4050))
        #expect(settling.deadline == at(4200))
    }

    @Test("What is found and not resolved is waited for, but not for ever", arguments: [Settling.Care.quick, .sure])
    func unresolved(care: Settling.Care) {
        var settling = Settling(care, at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(100))
        settling.asked(isTruncated: false, at: at(1050))
        settling.unresolved(1)
        #expect(settling.deadline == at(6000))
        #expect(!settling.isSettled(at: at(5999)))
        #expect(settling.isSettled(at: at(6000)))
        settling.unresolved(0)
        #expect(settling.isSettled(at: at(1200)))
    }
}
