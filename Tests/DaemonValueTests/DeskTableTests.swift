import DNSMessage
import DNSSD
import MulticastEngine
import Testing

/// Requests for records that share their questions, and what nobody answers. Times are virtual.
@Suite("requests for records")
struct DeskTableTests {
    private static let anyone = DeskAsker.user(1000)

    private static func host(_ text: String) throws -> RecordRequest {
        .addresses(of: try DomainName(presentation: text))
    }

    @Test("equal requests share one question, and each gets the answer; what is known asks nothing")
    func shared() throws {
        var table = DeskTable<Int>()
        let host = try Self.host("h1.local")
        #expect(table.ask(host, wanted: .a, 1, by: Self.anyone, known: [], at: .zero) == .ask)
        let again = try Self.host("H1.LOCAL")
        #expect(table.ask(again, wanted: .a, 2, by: .user(7), known: [], at: .milliseconds(1)) == .wait)
        #expect(table.ask(host, wanted: .aaaa, 3, by: Self.anyone, known: [], at: .milliseconds(2)) == .wait)
        let first = table.learned([.a], of: host, at: .milliseconds(5))
        #expect(first?.tickets == [1, 2] && table.isOpen(host))
        #expect(table.ask(host, wanted: .a, 4, by: Self.anyone, known: [.a], at: .milliseconds(6)) == .answer)
        let second = table.learned([.a, .aaaa], of: host, at: .milliseconds(9))
        #expect(second?.tickets == [3] && !table.isOpen(host) && table.deadline == nil)
    }

    @Test("silence: an answer within a second, once; remembered, until somebody comes")
    func silence() throws {
        var table = DeskTable<Int>()
        let host = try Self.host("nobody.local")
        #expect(table.ask(host, wanted: .a, 1, by: Self.anyone, known: [], at: .zero) == .ask)
        let end = try #require(table.deadline)
        #expect(end <= .seconds(1))
        #expect(table.takeDue(at: end - .milliseconds(1), known: { _ in [] }).isEmpty)
        let done = table.takeDue(at: end, known: { _ in [] })
        #expect(done.count == 1 && done[0].tickets == [1] && !table.isOpen(host))
        #expect(table.ask(host, wanted: .aaaa, 2, by: Self.anyone, known: [], at: end + .milliseconds(1)) == .answer)
        let later = end + DeskTable<Int>.silence + .milliseconds(1)
        #expect(table.ask(host, wanted: .a, 3, by: Self.anyone, known: [], at: later) == .ask)
        #expect(table.learned([.a], of: host, at: later + .milliseconds(3))?.tickets == [3])
    }

    @Test("a type that nobody answers ends soon after the other, and is not asked again while the other is known")
    func oneFamily() throws {
        var table = DeskTable<Int>()
        let host = try Self.host("h1.local")
        _ = table.ask(host, wanted: .aaaa, 1, by: Self.anyone, known: [], at: .zero)
        #expect(table.learned([.a], of: host, at: .milliseconds(50))?.tickets == [])
        let end = try #require(table.deadline)
        #expect(end == .milliseconds(350))
        #expect(table.takeDue(at: end, known: { _ in [.a] }).first?.tickets == [1])
        #expect(table.ask(host, wanted: .aaaa, 2, by: Self.anyone, known: [.a], at: .seconds(30)) == .answer)
        // The host's record has expired meanwhile.
        #expect(table.ask(host, wanted: .a, 3, by: Self.anyone, known: [], at: .seconds(30)) == .ask)
    }

    /// Asks for a thousand names in a second, by whomever.
    /// - Returns: how many were asked of the links; the others were refused.
    private static func flood(_ table: inout DeskTable<Int>, by asker: (Int) -> DeskAsker) throws -> Int {
        try (0..<1000).count { number in
            let now = Duration.milliseconds(number)
            _ = table.takeDue(at: now, known: { _ in [] })
            let name = try host("n\(number).local")
            let step = table.ask(name, wanted: .a, number, by: asker(number), known: [], at: now)
            #expect(step == .ask || step == .refuse)
            return step == .ask
        }
    }

    @Test("who asks for ever other names has a budget, beside which others are served")
    func budget() throws {
        var table = DeskTable<Int>()
        #expect(try Self.flood(&table) { _ in Self.anyone } <= 64 + 8)
        #expect(table.ask(try Self.host("h1.local"), wanted: .a, 1, by: .user(7), known: [], at: .seconds(1)) == .ask)
        #expect(
            table.ask(try Self.host("h2.local"), wanted: .a, 1, by: Self.anyone, known: [.a], at: .seconds(1))
                == .answer)
    }

    @Test("many askers, each with few questions, are bounded together")
    func manyAskers() throws {
        var table = DeskTable<Int>()
        var budgets = QuestionBudgets(burst: 64, perSecond: 8)
        var asked = 0
        for number in 0..<2000 {
            let user = DeskAsker.user(UInt32(number))
            let host = try Self.host("n\(number).local")
            if table.ask(host, wanted: .a, number, by: user, known: [], at: .zero) == .ask { asked += 1 }
            for _ in 0..<70 { _ = budgets.take(for: user, at: .zero) }
        }
        #expect(asked == 128)
        let (now, later) = (budgets.take(for: .user(5000), at: .zero), budgets.take(for: .user(5000), at: .seconds(1)))
        #expect(!now && later)
    }

    @Test("of what many hosts have, the first answer is not all: it is waited for once, and is known for a while then")
    func lists() throws {
        var table = DeskTable<Int>()
        let list = RecordRequest.list(of: try DomainName(presentation: "_http._tcp.local"))
        // What was announced by the way is not all.
        #expect(table.ask(list, wanted: .ptr, 1, by: Self.anyone, known: [.ptr], at: .zero) == .ask)
        #expect(table.learned([.ptr], of: list, at: .milliseconds(20)) == nil)
        let end = try #require(table.deadline)
        #expect(end == .milliseconds(800))
        #expect(table.takeDue(at: end, known: { _ in [.ptr] }).first?.tickets == [1])
        #expect(table.ask(list, wanted: .ptr, 2, by: Self.anyone, known: [.ptr], at: .seconds(30)) == .answer)
        #expect(table.ask(list, wanted: .ptr, 3, by: Self.anyone, known: [.ptr], at: .seconds(90)) == .ask)
    }

    @Test("neighbours, who may call themselves what they like, are bounded together; this machine's programs apart")
    func forgers() throws {
        var table = DeskTable<Int>()
        let asked = try Self.flood(&table) { .neighbour(.v4(IPv4Address(bits: 0xAC11_0002 + UInt32($0)))) }
        #expect(asked <= 64 + 32)
        _ = table.takeDue(at: .seconds(2), known: { _ in [] })
        #expect(table.ask(try Self.host("h1.local"), wanted: .a, 1, by: .machine, known: [], at: .seconds(2)) == .ask)
    }
}
