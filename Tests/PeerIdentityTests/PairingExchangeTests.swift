import PeerIdentity
import Testing

struct PairingExchangeTests {
    /// Counts from a seed.
    private struct Counter: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }

    /// No digest, but one that every byte changes.
    @Sendable private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        return (0..<32).map { round in
            for byte in bytes { state = (state ^ UInt64(byte) ^ UInt64(round)) &* 0x100_0000_01B3 }
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    private static func key(_ byte: UInt8) throws -> KeyFingerprint {
        try #require(KeyFingerprint(repeatElement(byte, count: 32)))
    }

    private static func exchange(
        _ role: PairingExchange.Role, own: UInt8, peer: UInt8, seed: UInt64
    ) throws -> PairingExchange {
        try PairingExchange(role, own: key(own), peer: key(peer), digest: digest, random: Counter(state: seed))
    }

    /// Two that have shown each other their codes.
    private struct Compared {
        var caller: PairingExchange
        var answerer: PairingExchange
        var codes: [PairingCode]
    }

    private static func sent(_ steps: [PairingExchange.Step]) -> [UInt8] {
        steps.flatMap { step -> [UInt8] in
            guard case .send(let bytes) = step else { return [] }
            return bytes
        }
    }

    private static func code(_ steps: [PairingExchange.Step]) -> PairingCode? {
        for case .compare(let code) in steps { return code }
        return nil
    }

    private static func compared() throws -> Compared {
        var caller = try exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try exchange(.answerer, own: 2, peer: 1, seed: 2)
        #expect(answerer.start().isEmpty)
        let first = try answerer.received(sent(caller.start()))
        let second = try caller.received(sent(first))
        let third = try answerer.received(sent(second))
        let fourth = try caller.received(sent(third))
        return Compared(caller: caller, answerer: answerer, codes: [third, fourth].compactMap(code))
    }

    @Test("both sides show the same code, and it is that of both numbers and both keys")
    func codes() throws {
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        let opening = Self.sent(caller.start())
        #expect(opening.count == 32)
        let commitment = Self.sent(try answerer.received(opening))
        let number = Self.sent(try caller.received(commitment))
        let last = try answerer.received(number)
        let shown = try caller.received(Self.sent(last))
        #expect(commitment.count == 32 && number.count == 32 && Self.sent(last).count == 32)
        let one = PairingCode.Side(key: try Self.key(1), nonce: number)
        let other = PairingCode.Side(key: try Self.key(2), nonce: Self.sent(last))
        let code = PairingCode(caller: one, answerer: other, digest: Self.digest)
        #expect(opening == PairingCode.commitment(to: one, digest: Self.digest))
        #expect(commitment == PairingCode.commitment(to: other, digest: Self.digest))
        #expect(Self.code(last) == code && shown == [.compare(code)])
        #expect(caller.start().isEmpty)
    }

    @Test("it is the same byte by byte")
    func pieces() throws {
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        func give(_ bytes: [UInt8], _ side: inout PairingExchange) throws -> [PairingExchange.Step] {
            try bytes.flatMap { try side.received([$0]) }
        }
        let first = try give(Self.sent(caller.start()), &answerer)
        let second = try give(Self.sent(first), &caller)
        let third = try give(Self.sent(second), &answerer)
        let fourth = try give(Self.sent(third), &caller)
        #expect(Self.code(third) != nil && Self.code(third) == Self.code(fourth))
    }

    @Test("two runs have different numbers, and so have two sides")
    func fresh() throws {
        let commitments = try (0..<4).map { _ in
            var side = try PairingExchange(.caller, own: Self.key(1), peer: Self.key(2), digest: Self.digest)
            return Self.sent(side.start())
        }
        #expect(Set(commitments).count == 4)
    }

    @Test("only two yes agree", arguments: [(true, true), (true, false), (false, true), (false, false)])
    func answers(_ caller: Bool, _ answerer: Bool) throws {
        var pair = try Self.compared()
        #expect(pair.caller.outcome == nil)
        let one = Self.sent(pair.caller.answer(caller))
        let other = Self.sent(pair.answerer.answer(answerer))
        #expect(one == [UInt8(ascii: caller ? "y" : "n")])
        #expect(pair.caller.outcome == (caller ? nil : .refused))
        #expect(try pair.caller.received(other) == [.peerAnswered(answerer)])
        #expect(try pair.answerer.received(one) == [.peerAnswered(caller)])
        #expect(pair.caller.outcome == (caller ? answerer ? .agreed : .refusedByPeer : .refused))
        #expect(pair.answerer.outcome == (answerer ? caller ? .agreed : .refusedByPeer : .refused))
        try pair.caller.ended()
        #expect(throws: PairingExchange.Failure.over) { try pair.caller.received([0x79]) }
    }

    @Test("an answer counts once, and none before the code is shown")
    func once() throws {
        var early = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        #expect(early.answer(true).isEmpty && early.outcome == nil)
        var pair = try Self.compared()
        #expect(pair.caller.answer(false).count == 1)
        #expect(pair.caller.answer(true).isEmpty && pair.caller.outcome == .refused)
    }

    @Test("the caller's peer may answer in one piece with its number")
    func quick() throws {
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        let number = try caller.received(Self.sent(try answerer.received(Self.sent(caller.start()))))
        let last = Self.sent(try answerer.received(Self.sent(number)))
        let steps = try caller.received(last + Self.sent(answerer.answer(true)))
        #expect(steps.count == 2 && steps.last == .peerAnswered(true))
        #expect(throws: PairingExchange.Failure.extra) { try caller.received([0x79]) }
        #expect(caller.answer(true).isEmpty)
    }

    @Test("what comes before its turn ends it: before the start, with a commitment, with a number, as an early answer")
    func early() throws {
        let bytes = [UInt8](repeating: 7, count: 33)
        for role in [PairingExchange.Role.caller, .answerer] {
            var side = try Self.exchange(role, own: 1, peer: 2, seed: 1)
            if role == .caller {
                #expect(throws: PairingExchange.Failure.early) { try side.received([7]) }
                side = try Self.exchange(role, own: 1, peer: 2, seed: 1)
                _ = side.start()
            }
            #expect(throws: PairingExchange.Failure.early) { try side.received(bytes) }
            #expect(throws: PairingExchange.Failure.over) { try side.received([7]) }
        }
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        let number = Self.sent(try caller.received(Self.sent(try answerer.received(Self.sent(caller.start())))))
        #expect(throws: PairingExchange.Failure.early) { try answerer.received(number + [UInt8(ascii: "y")]) }
    }

    @Test("another number than the one committed to, by one bit, ends it; no code is shown", arguments: [0, 31])
    func uncommitted(_ index: Int) throws {
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 1, seed: 2)
        let commitment = Self.sent(try answerer.received(Self.sent(caller.start())))
        var number = Self.sent(try caller.received(commitment))
        let good = number
        number[index] ^= 1
        #expect(throws: PairingExchange.Failure.uncommitted) { try answerer.received(number) }
        // One attempt: also the right number comes too late.
        #expect(throws: PairingExchange.Failure.over) { try answerer.received(good) }
    }

    @Test("who sends back what was said, or has the same key, is no peer")
    func reflection() throws {
        var caller = try Self.exchange(.caller, own: 1, peer: 2, seed: 1)
        let opening = Self.sent(caller.start())
        #expect(throws: PairingExchange.Failure.reflected) { try caller.received(opening) }
        #expect(throws: PairingExchange.Failure.ownKey) { try Self.exchange(.caller, own: 1, peer: 1, seed: 1) }
    }

    @Test("one in the middle who passes on what is said cannot open the commitments, which hold the keys")
    func relayed() throws {
        // Each side sees key 9.
        var caller = try Self.exchange(.caller, own: 1, peer: 9, seed: 1)
        var answerer = try Self.exchange(.answerer, own: 2, peer: 9, seed: 2)
        let number = Self.sent(try caller.received(Self.sent(try answerer.received(Self.sent(caller.start())))))
        #expect(throws: PairingExchange.Failure.uncommitted) { try answerer.received(number) }
    }

    @Test("one in the middle who plays each side with numbers of his own brings about different codes")
    func middle() throws {
        var same = 0
        for seed: UInt64 in 0..<200 {
            var caller = try Self.exchange(.caller, own: 1, peer: 9, seed: seed)
            var false1 = try Self.exchange(.answerer, own: 9, peer: 1, seed: 1000 + seed)
            var false2 = try Self.exchange(.caller, own: 9, peer: 2, seed: 1000 + seed)
            var answerer = try Self.exchange(.answerer, own: 2, peer: 9, seed: 2000 + seed)
            let left = try caller.received(Self.sent(try false1.received(Self.sent(caller.start()))))
            let right = try false2.received(Self.sent(try answerer.received(Self.sent(false2.start()))))
            let shown = try caller.received(Self.sent(try false1.received(Self.sent(left))))
            if Self.code(shown) == Self.code(try answerer.received(Self.sent(right))) { same += 1 }
        }
        #expect(same == 0)
    }

    @Test("an answer that is neither yes nor no, and an end in between, come to nothing")
    func nonsense() throws {
        var pair = try Self.compared()
        #expect(throws: PairingExchange.Failure.noAnswer) { try pair.caller.received([0]) }
        #expect(throws: PairingExchange.Failure.cut) { try pair.answerer.ended() }
        #expect(pair.answerer.answer(true).isEmpty && pair.answerer.outcome == nil)
        var other = try Self.compared()
        _ = other.caller.answer(true)
        #expect(throws: PairingExchange.Failure.cut) { try other.caller.ended() }
        #expect(other.codes.count == 2)
    }
}
