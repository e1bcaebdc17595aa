import MulticastEngine
import Testing

@Suite("Settling")
struct SettlingTests {
    private let start = Duration.seconds(10)

    private func at(_ milliseconds: Int) -> Duration { start + .milliseconds(milliseconds) }

    @Test("The second question decides, whether something was found, nothing, or packets were lost")
    func secondQuestion() {
        for (hasNews, isLossy) in [(false, false), (true, false), (true, true)] {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            if hasNews { settling.news(at: at(100)) }
            if isLossy { settling.lost() }
            settling.judge(.open, at: at(530))
            #expect(settling.deadline == at(4500))
            settling.asked(isTruncated: false, at: at(1050))
            // That there is nothing is said later than that it is all.
            #expect(settling.deadline == at(hasNews ? 1200 : 1650))
        }
    }

    @Test("As long as others know of what is not known here, it is not all, and an end then is an end cut short")
    func othersKnowMore() {
        for hasNews in [false, true] {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            if hasNews { settling.news(at: at(100)) }
            settling.asked(isTruncated: false, at: at(1050))
            settling.othersKnowMore(true)
            #expect(settling.wantsQuestion && settling.deadline == at(4500))
            #expect(settling.isSettled(at: at(4500)) && !settling.isHeardOut(at: at(4500)))
            settling.othersKnowMore(false)
            #expect(settling.deadline == at(hasNews ? 1200 : 1650))
            #expect(!settling.wantsQuestion && settling.isHeardOut(at: at(1650)))
            // Not more than four times: not everything that others list exists.
            settling.othersKnowMore(true)
            for question in 2...3 { settling.asked(isTruncated: false, at: at(1000 * question + 50)) }
            #expect(!settling.wantsQuestion)
        }
    }

    @Test("Silence is none while packets wait to be looked at")
    func behind() {
        var settling = Settling(at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(100))
        settling.asked(isTruncated: false, at: at(1050))
        settling.isBehind(at: at(1190))
        #expect(settling.deadline == at(1340))
    }

    @Test("A list whose answers were slow waits as long for further ones")
    func slowAnswers() {
        for (news, settled) in [(250, 1200), (700, 1850)] {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            settling.news(at: at(news))
            settling.answered(at: at(news))
            settling.asked(isTruncated: false, at: at(1050))
            #expect(settling.deadline == at(settled))
        }
    }

    @Test("On a busy machine silence lasts longer, and that nothing is there takes a third question")
    func busy() {
        for hasNews in [false, true] {
            var settling = Settling(at: start)
            settling.wasLate(by: .milliseconds(20))
            settling.asked(isTruncated: false, at: at(50))
            if hasNews { settling.news(at: at(100)) }
            settling.asked(isTruncated: false, at: at(1050))
            #expect(settling.deadline == at(hasNews ? 1200 : 1650))
            settling.wasLate(by: .milliseconds(100))
            #expect(settling.deadline == at(hasNews ? 1600 : 4500))
            settling.asked(isTruncated: false, at: at(3050))
            #expect(settling.deadline == at(hasNews ? 3600 : 4050))
        }
    }

    @Test("A question that brings more is no proof of all: one more has to bring nothing, a second later")
    func confirmed() {
        var settling = Settling(at: start)
        settling.asked(isTruncated: false, at: at(50))
        // The responders have just answered somebody else, and say nothing.
        settling.asked(isTruncated: false, at: at(1050))
        settling.news(at: at(1150))
        settling.answered(at: at(1150))
        #expect(settling.wantsQuestion && settling.deadline == at(4500))
        settling.asked(isTruncated: false, at: at(2050))
        #expect(!settling.wantsQuestion && settling.deadline == at(2200) && settling.isHeardOut(at: at(2200)))
    }

    @Test("What comes long after a question is no answer to it; a list that grows with each is cut short")
    func newcomers() {
        var settling = Settling(at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.asked(isTruncated: false, at: at(1050))
        settling.answered(at: at(2000))
        #expect(!settling.wantsQuestion && settling.deadline == at(1650))
        for question in 2...4 {
            #expect(!settling.isHeardOut(at: at(1000 * question + 40)) || question == 2)
            settling.asked(isTruncated: false, at: at(1000 * question + 50))
            settling.news(at: at(1000 * question + 100))
            settling.answered(at: at(1000 * question + 100))
        }
        #expect(!settling.wantsQuestion && settling.deadline == at(4250))
        #expect(settling.isSettled(at: at(4250)) && !settling.isHeardOut(at: at(4250)))
    }

    @Test("150 ms without news after the second question, 600 where known answers took several packets")
    func sure() {
        var settling = Settling(at: start)
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

    @Test("One question more after packets were lost; and while a question is still being put")
    func lostLater() {
        var settling = Settling(at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(100))
        settling.asked(isTruncated: false, at: at(1050))
        settling.lost()
        #expect(settling.deadline == at(4500))
        settling.asked(isTruncated: true, at: at(3050))
        settling.isAsking(at: at(3800))
        #expect(settling.deadline == at(4400))
    }

    @Test("Where whoever answered did so by every way, the second question is not waited for")
    func early() {
        for (verdict, settled) in [(ListAnswers.Verdict.whole, 250), (.open, 1200)] {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            settling.news(at: at(150))
            // To look at what the answers say by then.
            #expect(settling.deadline == at(250))
            settling.judge(.open, at: at(250))
            #expect(settling.deadline == at(280) && !settling.isSettled(at: at(280)))
            settling.judge(verdict, at: at(400))
            #expect(settling.isSettled(at: at(400)) == (verdict != .open))
            #expect(settling.isHeardOut(at: at(400)) == (verdict != .open))
            if verdict != .open { #expect(settling.deadline == at(settled)) }
            // Once more is asked, whatever was answered, after which there is nothing to look at.
            settling.asked(isTruncated: false, at: at(1050))
            settling.judge(.open, at: at(1050))
            #expect(settling.deadline == at(1200))
        }
    }

    @Test("Nothing settles early just after news, on a busy machine, after losses, or where others know more")
    func notEarly() {
        func deadline(_ change: (inout Settling) -> Void) -> Duration {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            settling.judge(.whole, at: at(530))
            change(&settling)
            return settling.deadline
        }
        #expect(deadline { _ in } == at(250))
        #expect(deadline { $0.news(at: at(240)) } == at(300))
        #expect(deadline { $0.isBehind(at: at(240)) } == at(300))
        #expect(deadline { $0.wasLate(by: .milliseconds(50)) } == at(4500))
        #expect(deadline { $0.lost() } == at(4500))
        #expect(deadline { $0.othersKnowMore(true) } == at(4500))
    }

    @Test("Where a host does not answer soon, the answer to the second question has more time")
    func slow() {
        for (verdict, end) in [(ListAnswers.Verdict.open, 1200), (.slow, 1650)] {
            var settling = Settling(at: start)
            settling.asked(isTruncated: false, at: at(50))
            settling.news(at: at(150))
            settling.asked(isTruncated: false, at: at(1050))
            settling.judge(verdict, at: at(1050))
            #expect(!settling.wantsQuestion && settling.deadline == at(end) && settling.isHeardOut(at: at(end)))
        }
    }

    @Test("After a full packet more is waited for, and asked for a third time")
    func unfinished() {
        var settling = Settling(at: start)
        settling.asked(isTruncated: false, at: at(50))
        settling.news(at: at(150))
        settling.judge(.unfinished, at: at(150))
        #expect(settling.wantsQuestion && settling.deadline == at(250))
        settling.asked(isTruncated: false, at: at(1050))
        #expect(settling.wantsQuestion && settling.deadline == at(4500))
        settling.asked(isTruncated: false, at: at(2050))
        #expect(settling.deadline == at(2650) && settling.isHeardOut(at: at(2650)))
        // The rest has come.
        settling.judge(.open, at: at(2100))
        #expect(!settling.wantsQuestion && settling.deadline == at(2200))
    }

    @Test(
        "A list is not heard out where others ask for the same and no one answers anyone, nor where a part of an answer is missing",
        arguments: [ListAnswers.Verdict.unanswered, .cut])
    func unanswered(_ verdict: ListAnswers.Verdict) {
        var settling = Settling(at: start)
        for milliseconds in [50, 1050, 3050] { settling.asked(isTruncated: false, at: at(milliseconds)) }
        settling.judge(verdict, at: at(3700))
        // Answers that end the doubt bring nothing new where another way had brought it all.
        #expect(settling.deadline == at(3850))
        settling.judge(verdict, at: at(4400))
        #expect(settling.deadline == at(4500) && !settling.isSettled(at: at(4499)))
        #expect(settling.isSettled(at: at(4500)) && !settling.isHeardOut(at: at(4500)))
        settling.judge(.open, at: at(3700))
        #expect(settling.isHeardOut(at: at(3700)))
    }

    @Test("What others have asked twice already has settled, but for the time that an answer may take")
    func joined() {
        let settling = Settling(timesAsked: 3, at: start)
        #expect(settling.deadline == at(150))
    }
}
