import FileDropCore
import PeerIdentity
import Testing

@Suite("What strangers may ask for")
struct StrangerTests {
    @Test("five questions a minute, then none until the minute is over")
    func pace() {
        let start = ContinuousClock.now
        var pace = QuestionPace(now: start)
        let asked = (0..<100).filter { _ in pace.asks(now: start + .seconds(1)) }
        #expect(asked == [0, 1, 2, 3, 4])
        let later = [59, 60].map { pace.asks(now: start + .seconds($0)) }
        #expect(later == [false, true])
    }

    @Test("one key takes three of them at most, and what is not asked counts for nothing")
    func paceOfKey() throws {
        let keys = try (1...3).map { try #require(KeyFingerprint(repeatElement(UInt8($0), count: 32))) }
        let start = ContinuousClock.now
        var pace = QuestionPace(now: start)
        let first = (0..<100).filter { _ in pace.asks(of: keys[0], now: start) }
        #expect(first == [0, 1, 2])
        let others = keys[1...].map { pace.asks(of: $0, now: start) }
        #expect(others == [true, true])
        let late = pace.asks(of: keys[1], now: start)
        #expect(!late)
    }

    @Test("no more than a person has said yes to: neither entries nor bytes")
    func allowance() throws {
        let path = try #require(RelativePath("a".utf8))
        let entry = { (size: Int64) in
            Entry(path: path, kind: .file, size: size, modified: 0, isExecutable: false)
        }
        var allowance = Allowance(entries: 3, bytes: 10)
        let taken = [4, 6, 0, 0].map { allowance.takes(entry($0)) }
        #expect(taken == [true, true, true, false])
        var bytes = Allowance(entries: 100, bytes: 10)
        let long = bytes.takes(entry(11))
        #expect(!long)
        var huge = Allowance(entries: 1, bytes: .max)
        let longest = huge.takes(entry(Entry.maximumSize))
        #expect(longest)
    }
}
