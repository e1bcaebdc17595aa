import Conformance
import Testing

@Suite("rules that judge responders") struct RuleTests {
    /// What no value decides: sockets that are shared, several links, other programs of the host.
    private static let ofSockets: Set<Int> = [1, 2, 5, 83, 88, 89, 96]
    private static let judged = Rule.all.map(\.number).filter { !ofSockets.contains($0) }

    @Test("each number is there once, each rule of values has a fault, and no other")
    func complete() {
        #expect(Set(Rule.all.map(\.number)).count == Rule.all.count)
        #expect(Set(Fault.all.map(\.rule)).union([100]) == Set(Self.judged))
    }

    @Test(
        "the reference keeps each, but that two processes cannot both hear what goes to the host alone",
        arguments: judged)
    func kept(_ number: Int) throws {
        let verdict = try verdict(number, of: Rule.all, on: VirtualLink())
        if number == 100 { #expect(verdict != .kept) } else { #expect(verdict == .kept) }
    }

    @Test("each fails against a reference that is made to break it", arguments: Fault.all.map(\.rule))
    func broken(_ number: Int) throws {
        let fault = try #require(Fault.all.first { $0.rule == number })
        try expectBroken(number, of: Rule.all, on: VirtualLink(fault))
    }
}
