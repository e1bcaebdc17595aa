import Conformance
import Testing

@Suite("rules that judge programs that look for services") struct QuerierRuleTests {
    /// A socket that is shared, and what it does not do: ours never asks for unicast answers.
    private static let judged = Rule.queriers.map(\.number).filter { $0 != 126 && $0 != 128 }

    @Test("each number is there once, and each rule of values has a fault")
    func complete() { #expect(QuerierFault.all.map(\.rule) == Self.judged) }

    @Test("the reference keeps each", arguments: judged)
    func kept(_ number: Int) throws {
        let verdict = try verdict(number, of: Rule.queriers, on: VirtualQuerier())
        #expect(verdict == .kept)
    }

    @Test("each fails against a reference that is made to break it", arguments: judged)
    func broken(_ number: Int) throws {
        let fault = try #require(QuerierFault.all.first { $0.rule == number })
        try expectBroken(number, of: Rule.queriers, on: VirtualQuerier(fault))
    }
}
