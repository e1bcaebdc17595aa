import DNSSD
import System
import Testing

@testable import AvahiEngine

@Suite("the first list of services")
struct FirstListTests {
    private let start = MonotonicTime(microseconds: 1_000_000_000)

    private func list(
        of count: Int, last: Duration, allForNow: Duration? = .seconds(1), before: PacketBacklog? = backlog()
    ) -> FirstList {
        var list = FirstList(backlog: before)
        for _ in 0..<count { list.appeared(at: start + last) }
        if let allForNow { list.wasAllForNow(at: start + allForNow) }
        return list
    }

    private static func backlog(waiting: Int = 0, lost: Int = 7) -> PacketBacklog? {
        let socket = """
            sl
            1: 00000000:14E9 00000000:0000 07 00000000:\(String(waiting, radix: 16)) 00:0 0 102 0 18532 2 0 0
            """
        return PacketBacklog(
            sockets: BoundSocket.all(in: Array(socket.utf8), family: .ipv4), snmp: "Udp: RcvbufErrors\nUdp: \(lost)",
            snmp6: "")
    }

    private func verdict(_ list: FirstList, at time: Duration, _ backlog: PacketBacklog? = backlog())
        -> FirstList.Verdict
    {
        var list = list
        return list.verdict(at: start + time) { backlog }
    }

    private func again(_ time: Duration) -> FirstList.Verdict { .lookAgain(at: start + time) }

    @Test("is not complete before ALL_FOR_NOW")
    func before() {
        for count in [1, 1_000] {
            #expect(verdict(list(of: count, last: .zero, allForNow: nil), at: .seconds(9)) == .lookAgain(at: nil))
        }
    }

    @Test(
        "is complete at ALL_FOR_NOW when it is short, and nothing is read for that",
        arguments: [0, 1, FirstList.crowd - 1])
    func short(count: Int) {
        var list = list(of: count, last: .milliseconds(990))
        let verdict = list.verdict(at: start + .seconds(1)) {
            Issue.record("read")
            return nil
        }
        #expect(verdict == .complete)
    }

    @Test("of a crowd is complete at ALL_FOR_NOW when nothing was lost and nothing waits")
    func nothingLost() {
        let list = list(of: FirstList.crowd, last: .milliseconds(900))
        #expect(verdict(list, at: .seconds(1)) == .complete)
        let late = self.list(of: FirstList.crowd, last: .milliseconds(950))
        #expect(verdict(late, at: .seconds(1)) == again(.milliseconds(1_050)))
        #expect(verdict(late, at: .milliseconds(1_050)) == .complete)
    }

    @Test("is not complete while avahi-daemon has not read all that came")
    func waiting() {
        let list = list(of: FirstList.crowd, last: .milliseconds(200))
        #expect(verdict(list, at: .seconds(1), Self.backlog(waiting: 0xA00)) == again(.milliseconds(1_100)))
        #expect(verdict(list, at: .seconds(9), Self.backlog(waiting: 1)) == again(.milliseconds(9_100)))
    }

    @Test(
        "of a crowd waits for the answers to the second query where something was lost, or nobody knows (RFC 6762 §5.2, §7.2)",
        arguments: [
            (FirstListTests.backlog(), FirstListTests.backlog(lost: 8), Duration.milliseconds(2_000)),
            (FirstListTests.backlog(), nil, .milliseconds(2_350)), (nil, nil, .milliseconds(2_350)),
        ])
    func lost(before: PacketBacklog?, now: PacketBacklog?, end: Duration) {
        let early = list(of: FirstList.crowd, last: .milliseconds(200), before: before)
        #expect(verdict(early, at: .seconds(1), now) == again(.milliseconds(1_750)))
        #expect(verdict(early, at: .milliseconds(1_750), now) == .complete)
        let late = list(of: FirstList.crowd, last: .milliseconds(1_600), before: before)
        #expect(verdict(late, at: .milliseconds(1_750), now) == again(end))
    }

    @Test(
        "is doubtful where packets are lost after ALL_FOR_NOW as well, not where the second query made good what was lost"
    )
    func doubtful() {
        for (lost, isDoubtful) in [(8, false), (9, true)] {
            var list = list(of: FirstList.crowd, last: .milliseconds(200))
            _ = list.verdict(at: start + .seconds(1)) { Self.backlog(lost: 8) }
            #expect(!list.isDoubtful)
            let end = list.verdict(at: start + .milliseconds(1_750)) { Self.backlog(lost: lost) }
            #expect(end == .complete && list.isDoubtful == isDoubtful)
        }
        #expect(!list(of: 1, last: .zero).isDoubtful)
    }

    @Test("is complete in the end though new services never stop")
    func endless() {
        let list = list(of: 4_000, last: .seconds(90))
        #expect(verdict(list, at: .milliseconds(30_950), Self.backlog(waiting: 1)) == again(.seconds(31)))
        #expect(verdict(list, at: .seconds(31), Self.backlog(waiting: 1)) == .complete)
    }

    @Test("is not put off by a second ALL_FOR_NOW")
    func saidTwice() {
        var list = list(of: 200, last: .milliseconds(200))
        list.wasAllForNow(at: start + .seconds(3))
        #expect(verdict(list, at: .seconds(1), nil) == again(.milliseconds(1_750)))
    }
}
