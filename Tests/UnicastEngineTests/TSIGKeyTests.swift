import DNSMessage
import Testing

@testable import UnicastEngine

@Suite struct TSIGKeyTests {
    @Test func theSecretIsNotShown() throws {
        let name = try DomainName(labels: [Array("pub".utf8)])
        let key = TSIGKey(name: name, algorithm: .sha256, secret: Array("very secret".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains("pub"))
            #expect(!text.contains("118") && !text.contains("very"), "\(text)")
        }
    }
}
