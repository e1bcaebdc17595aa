import PeerIdentity
import Testing

struct PairingCodeTests {
    /// No digest, but one that every byte changes.
    private func digest(_ bytes: [UInt8]) -> [UInt8] {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        return (0..<32).map { round in
            for byte in bytes { state = (state ^ UInt64(byte) ^ UInt64(round)) &* 0x100_0000_01B3 }
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    private func side(_ key: UInt8, _ nonce: UInt8) throws -> PairingCode.Side {
        let fingerprint = try #require(KeyFingerprint(repeatElement(key, count: 32)))
        return PairingCode.Side(key: fingerprint, nonce: [UInt8](repeating: nonce, count: PairingCode.nonceLength))
    }

    @Test("six digits in two groups, the same for both sides")
    func form() throws {
        let code = PairingCode(caller: try side(1, 2), answerer: try side(3, 4), digest: digest)
        #expect(code == PairingCode(caller: try side(1, 2), answerer: try side(3, 4), digest: digest))
        let digits = code.description.utf8
        #expect(digits.count == 7 && Array(digits)[3] == UInt8(ascii: " "), "\(code)")
        #expect(digits.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == 6, "\(code)")
    }

    @Test("a leading zero is written")
    func zeros() throws {
        let code = PairingCode(caller: try side(1, 2), answerer: try side(3, 4)) { _ in
            [UInt8](repeating: 0, count: 31) + [7]
        }
        #expect(code.description == "000 000")
        let other = PairingCode(caller: try side(1, 2), answerer: try side(3, 4)) { _ in
            [0, 0, 0, 0, 0, 0, 0, 42] + [UInt8](repeating: 9, count: 24)
        }
        #expect(other.description == "000 042")
    }

    @Test("each key and each number changes it, and so does who dialled")
    func everythingCounts() throws {
        let code = PairingCode(caller: try side(1, 2), answerer: try side(3, 4), digest: digest)
        let others = [
            PairingCode(caller: try side(9, 2), answerer: try side(3, 4), digest: digest),
            PairingCode(caller: try side(1, 9), answerer: try side(3, 4), digest: digest),
            PairingCode(caller: try side(1, 2), answerer: try side(9, 4), digest: digest),
            PairingCode(caller: try side(1, 2), answerer: try side(3, 9), digest: digest),
            PairingCode(caller: try side(3, 4), answerer: try side(1, 2), digest: digest),
        ]
        #expect(!others.contains(code) && Set(others).count == others.count)
    }

    @Test("a commitment is of the number and the key")
    func commitment() throws {
        let one = PairingCode.commitment(to: try side(1, 2), digest: digest)
        #expect(one == PairingCode.commitment(to: try side(1, 2), digest: digest))
        #expect(one != PairingCode.commitment(to: try side(1, 3), digest: digest))
        #expect(one != PairingCode.commitment(to: try side(2, 2), digest: digest))
    }
}
