import DNSSD
import PeerIdentity
import Testing

@testable import DiscoverdCommands

struct PairingAttemptsTests {
    private let start = ContinuousClock.now

    private func origins(_ number: Int) throws -> [PairingAttempts.Origin] {
        [.address(try #require(IPAddress("10.0.0.\(number)")))]
    }

    @Test("one code at a time, five in all; a code counts when it is shown")
    func limit() throws {
        var attempts = PairingAttempts()
        for number in 0..<5 {
            #expect(!attempts.areSpent)
            let mine = try origins(number)
            let first = attempts.claim(mine, now: start)
            let second = attempts.claim(try origins(100), now: start)
            // The answer to a code that is gone may come late.
            #expect(first == (number == 0 ? .first : .afterLoss))
            #expect(second == nil && attempts.isTaken && !attempts.areSpent)
            attempts.show()
            attempts.leave(mine, now: start)
        }
        let sixth = attempts.claim(try origins(6), now: start)
        #expect(sixth == nil && attempts.areSpent && !attempts.isTaken)
    }

    @Test("who goes before its code is shown costs nothing, however often")
    func unseen() throws {
        var attempts = PairingAttempts()
        for number in 0..<100 {
            let mine = try origins(number)
            #expect(attempts.claim(mine, now: start) == .first)
            attempts.leave(mine, now: start)
        }
        #expect(!attempts.areSpent)
    }

    @Test("a key, or an address, that came to nothing twice waits a minute, and keeps no other out")
    func pause() throws {
        var attempts = PairingAttempts()
        let (mine, other) = (try origins(1), try origins(2))
        for _ in 0..<2 {
            #expect(attempts.claim(mine, now: start) != nil)
            attempts.leave(mine, now: start)
        }
        #expect(attempts.claim(mine + other, now: start + .seconds(59)) == nil)
        #expect(attempts.claim(other, now: start + .seconds(59)) != nil)
        attempts.leave(other, now: start + .seconds(59))
        #expect(attempts.claim(mine, now: start + .seconds(60)) != nil)
        attempts.leave(mine, now: start + .seconds(60))
        #expect(attempts.claim(mine, now: start + .seconds(61)) == nil)
    }
}
