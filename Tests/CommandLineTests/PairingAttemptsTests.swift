import Testing

@testable import DiscoverdCommands

struct PairingAttemptsTests {
    @Test("one code at a time, five in all")
    func limit() {
        var attempts = PairingAttempts()
        for number in 0..<5 {
            #expect(!attempts.areSpent)
            let first = attempts.claim()
            let second = attempts.claim()
            // The answer to a code that is gone may come late.
            #expect(first == (number == 0 ? .first : .afterLoss))
            #expect(second == nil && attempts.isTaken && !attempts.areSpent)
            attempts.leave()
        }
        let sixth = attempts.claim()
        #expect(sixth == nil && attempts.areSpent && !attempts.isTaken)
    }
}
