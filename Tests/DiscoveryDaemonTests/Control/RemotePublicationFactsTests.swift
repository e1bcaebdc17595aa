import DNSSD
import Discovery
import DiscoveryJSON
import Testing

@testable import DiscoveryControl

@Suite("Facts of a publication through the daemon") struct RemotePublicationFactsTests {
    private func line(
        _ state: RegistrationStatus.State, named name: String = "one", reason: String? = nil
    ) -> RemoteStream.Event {
        var writer = JSONWriter()
        writer.object {
            $0.registrationMembers(
                RegistrationStatus(
                    id: "1", name: name, wanted: "one", type: "_xx._tcp", domain: "local", port: 1, state: state,
                    reason: reason, uid: nil, origin: .attached))
        }
        return .line(writer.bytes)
    }

    private func facts(isPersistent: Bool = false) throws -> RemotePublicationFacts {
        RemotePublicationFacts(try ServiceName("one"), isPersistent: isPersistent)
    }

    @Test("a state that passed before the daemon reported is reported first")
    func skipped() throws {
        var facts = try facts()
        #expect(facts.received(line(.established)).map(\.state) == [.registering, .established])
        #expect(facts.received(line(.established)).isEmpty)
        #expect(facts.received(.disconnected("gone")).map(\.state) == [.waiting("gone")])
        #expect(facts.received(line(.established)).map(\.state) == [.registering, .established])
    }

    @Test("what is to be kept, or was published, is tried again where the daemon refuses it; else that is its end")
    func refused() throws {
        let busy = ControlError(429, "limit-exceeded", "too many")
        var first = try facts()
        #expect(first.received(.refused(busy)).map(\.state) == [.failed(busy.discoveryError)] && first.isOver)
        var kept = try facts(isPersistent: true)
        #expect(kept.received(.refused(busy)).map(\.state) == [.refused(busy.discoveryError)] && !kept.isOver)
        #expect(kept.received(.refused(busy)).isEmpty)
        #expect(kept.received(line(.registering)).isEmpty)
        #expect(kept.received(line(.established)).map(\.state) == [.registering, .established])
        var published = try facts()
        _ = published.received(line(.established))
        _ = published.received(.disconnected("gone"))
        #expect(published.received(.refused(busy)).map(\.state) == [.refused(busy.discoveryError)])
        #expect(!published.isOver)
    }

    @Test("a name that another one has ends what is not to be kept")
    func taken() throws {
        let taken = ControlError(DiscoveryError(.nameTaken, "another one has it"))
        for event in [line(.conflicted, reason: "another one has it"), .refused(taken)] {
            var published = try facts()
            _ = published.received(line(.established))
            guard case .conflicted? = published.received(event).last?.state else {
                Issue.record("it has not ended")
                continue
            }
            #expect(published.isOver)
            var kept = try facts(isPersistent: true)
            guard case .refused? = kept.received(event).last?.state else {
                Issue.record("it is not tried again")
                continue
            }
            #expect(!kept.isOver)
            // The daemon ends its answer after a line that refuses; one that refuses at once has none.
            if case .line = event { #expect(kept.received(.disconnected("ended")).isEmpty && kept.id == nil) }
            #expect(kept.received(line(.registering)).isEmpty)
            #expect(kept.received(event).isEmpty && !kept.isOver)
            if case .line = event { #expect(kept.received(.disconnected("ended")).isEmpty) }
            #expect(kept.received(.disconnected("gone")).map(\.state) == [.waiting("gone")])
            #expect(kept.received(line(.registering)).map(\.state) == [.registering])
            #expect(kept.received(line(.established)).map(\.state) == [.established])
            #expect(kept.received(.disconnected("gone")).map(\.state) == [.waiting("gone")])
        }
    }

    @Test("what the daemon has escaped in a reason is not escaped again; what a process in its place has not is")
    func escaped() throws {
        let quoted = "no name \"a\u{1B}[2J\"".escapedForTerminal
        var facts = try facts()
        #expect(facts.received(line(.waiting, reason: quoted)).last?.state == .waiting(quoted))
        #expect(facts.received(line(.waiting, reason: "a\u{1B}b")).last?.state == .waiting(#"a\u{1B}b"#))
    }

    @Test("a state that was reported, or another name, is not preceded by it again")
    func notSkipped() throws {
        var facts = try facts()
        #expect(facts.received(line(.registering)).map(\.state) == [.registering])
        #expect(facts.received(line(.established)).map(\.state) == [.established])
        #expect(facts.received(line(.established, named: "one #2")).map(\.state) == [.established])
        #expect(facts.id == "1" && !facts.isOver)
    }

    @Test("a daemon that hangs is waited for; when it answers again, all is as it was")
    func hanging() throws {
        var facts = try facts()
        #expect(facts.received(.hangs("silent")).map(\.state) == [.waiting("silent")])
        #expect(facts.received(.hangs(nil)).isEmpty)
        _ = facts.received(line(.established))
        #expect(facts.received(.hangs("silent")).map(\.state) == [.waiting("silent")])
        #expect(facts.received(.hangs(nil)).last?.state == .established)
        #expect(facts.received(.hangs(nil)).isEmpty)
        _ = facts.received(.hangs("silent"))
        #expect(facts.received(.disconnected("gone")).map(\.state) == [.waiting("gone")])
        #expect(facts.received(.hangs(nil)).isEmpty)
    }

    @Test("a change that the daemon refuses is told once for each time; what was so is told when one is taken")
    func changes() throws {
        var facts = try facts()
        let error = DiscoveryError(.invalidTXTRecord, "too long")
        #expect(facts.refusedChange(error).isEmpty && facts.tookChange().isEmpty)
        _ = facts.received(line(.established))
        #expect(facts.tookChange().isEmpty)
        for _ in 0..<2 { #expect(facts.refusedChange(error).map(\.state) == [.refused(error)]) }
        #expect(facts.tookChange().map(\.state) == [.established])
        #expect(facts.tookChange().isEmpty)
        _ = facts.refusedChange(error)
        _ = facts.received(.hangs("silent"))
        #expect(facts.received(.hangs(nil)).map(\.state) == [.refused(error)])
        #expect(facts.tookChange().map(\.state) == [.established])
        _ = facts.refusedChange(error)
        #expect(facts.received(.disconnected("gone")).map(\.state) == [.waiting("gone")])
        #expect(facts.tookChange().isEmpty && !facts.isOver)
    }
}
