import Testing

@testable import DiscoverdCommands

struct PairingAttemptsTests {
    @Test("one code at a time, five in all")
    func limit() {
        var attempts = PairingAttempts()
        for _ in 0..<5 {
            #expect(!attempts.areSpent)
            let first = attempts.claim()
            let second = attempts.claim()
            #expect(first && !second && attempts.isTaken && !attempts.areSpent)
            attempts.leave()
        }
        let sixth = attempts.claim()
        #expect(!sixth && attempts.areSpent && !attempts.isTaken)
    }
}
