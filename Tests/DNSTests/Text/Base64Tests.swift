import DNSSD
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(
        "RFC 4648 §10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func vectors(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test func bothLastCharacters() {
        #expect(Base64.encode([0xFB, 0xFF, 0xBF]) == "+/+/")
        #expect(Base64.decode("+/+/") == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "RFC 4648 §3: nothing but the one form of some bytes is read",
        arguments: [
            "Z", "Zg", "Zg=", "Zg===", "=", "==", "===", "====", "Zh==", "Zm9=", "Zm9v=", "Zg==Zg==", "Zm 9", "Zm9v\n",
            "Zm-_", "Z===",
            "Ü===", "Zg=A", "\0\0\0\0",
        ]
    )
    func refused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func roundTrip() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2000 {
            let bytes = generator.bytes(0...70)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test("Every readable text of four characters equals its written form")
    func canonical() {
        var generator = SeededGenerator(seed: 7)
        let characters = Array("AQgwZ09+/=b".unicodeScalars)
        var read = 0
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<8 { text.unicodeScalars.append(characters.randomElement(using: &generator) ?? "A") }
            guard let bytes = Base64.decode(text) else { continue }
            read += 1
            #expect(Base64.encode(bytes) == text)
        }
        #expect(read > 1000)
    }
}
