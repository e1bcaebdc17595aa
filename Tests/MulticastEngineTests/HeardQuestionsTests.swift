import DNSMessage
import DNSSD
import Testing

@testable import MulticastEngine

@Suite("Questions of other hosts over both families")
struct HeardQuestionsTests {
    @Test("only the same question over both has been heard by all: another type is another question")
    func types() throws {
        var heard = HeardQuestions()
        heard.families = Set(IPAddress.Family.allCases)
        let name = try #require(DomainName(["h1"], in: .local))
        let overOne = heard.isHeardByAll(Question(name, .a), over: .ipv4, at: .zero)
        let ofAnother = heard.isHeardByAll(Question(name, .aaaa), over: .ipv6, at: .zero)
        let unicast = Question(name, .a, wantsUnicastResponse: true)
        let overBoth = heard.isHeardByAll(unicast, over: .ipv6, at: .milliseconds(10))
        #expect(!overOne && !ofAnother && overBoth)
    }
}
