import Testing

@testable import AvahiEngine

@Suite("the first list of services")
struct FirstListTests {
    private let start = MonotonicTime(microseconds: 1_000_000_000)

    private func list(of count: Int, last: Duration, allForNow: Duration? = .seconds(1)) -> FirstList {
        var list = FirstList()
        for _ in 0..<count { list.appeared(at: start + last) }
        if let allForNow { list.wasAllForNow(at: start + allForNow) }
        return list
    }

    @Test("is not complete before ALL_FOR_NOW")
    func before() {
        #expect(list(of: 1, last: .milliseconds(30), allForNow: nil).completion == nil)
        #expect(list(of: 1_000, last: .milliseconds(30), allForNow: nil).completion == nil)
    }

    @Test("is complete at ALL_FOR_NOW when it is short", arguments: [0, 1, FirstList.crowd - 1])
    func short(count: Int) {
        #expect(list(of: count, last: .milliseconds(990)).completion == start + .seconds(1))
    }

    @Test("of a crowd waits for the answers to the second query (RFC 6762 §5.2, §7.2)")
    func crowd() {
        #expect(list(of: FirstList.crowd, last: .milliseconds(200)).completion == start + .milliseconds(1_750))
        #expect(list(of: FirstList.crowd, last: .milliseconds(1_600)).completion == start + .milliseconds(2_350))
    }

    @Test("is complete in the end though new services never stop")
    func endless() {
        #expect(list(of: 4_000, last: .seconds(90)).completion == start + .seconds(31))
    }

    @Test("is not put off by a second ALL_FOR_NOW")
    func again() {
        var list = list(of: 200, last: .milliseconds(200))
        list.wasAllForNow(at: start + .seconds(3))
        #expect(list.completion == start + .milliseconds(1_750))
    }
}
