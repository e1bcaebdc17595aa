import DNSSD
import Testing

@Suite struct NamePatternsTests {
    @Test func aRefusalSpeaksOfNamesAndQuotesThePatternAsItIs() {
        let many = #expect(throws: DiscoveryError.self) {
            try NamePatterns(Array(repeating: "a", count: 65))
        }
        #expect(many?.message == "65 name patterns, at most 64 are allowed")
        #expect(many?.code == .invalidServiceName)
        let quoted = #expect(throws: DiscoveryError.self) { try NamePatterns(["interface pattern ["]) }
        #expect(quoted?.message.contains("interface pattern [") == true, "\(quoted?.message ?? "")")
        let empty = #expect(throws: DiscoveryError.self) { try NamePatterns(["!"]) }
        #expect(empty?.message.contains("the name pattern is empty") == true, "\(empty?.message ?? "")")
    }
}
