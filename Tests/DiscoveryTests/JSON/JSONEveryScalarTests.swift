import DiscoveryJSON
import Testing

@Suite("JSON strings give back the exact text")
struct JSONEveryScalarTests {
    @Test("Every Unicode scalar survives, and no control character is written", arguments: 0..<0x11)
    func everyScalar(plane: UInt32) throws {
        let all = (plane << 16...plane << 16 | 0xFFFF).compactMap(Unicode.Scalar.init)
        var text = ""
        text.unicodeScalars.append(contentsOf: all)
        var writer = JSONWriter()
        writer.string(text)
        let written = String(decoding: writer.bytes, as: UTF8.self)
        #expect(!written.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(try read(written).unicodeScalars.elementsEqual(all))
    }

    /// A reader written from RFC 8259 §7 alone.
    private func read(_ text: String) throws -> String {
        let written = Array(text.utf16.dropFirst().dropLast())
        var units: [UInt16] = []
        var position = 0
        while position < written.count {
            guard written[position] == 0x5C else {
                units.append(written[position])
                position += 1
                continue
            }
            let kind = try #require(written.dropFirst(position + 1).first)
            position += 2
            switch Unicode.Scalar(kind) {
            case "b": units.append(0x08)
            case "t": units.append(0x09)
            case "n": units.append(0x0A)
            case "f": units.append(0x0C)
            case "r": units.append(0x0D)
            case "u":
                let digits = String(decoding: written.dropFirst(position).prefix(4), as: UTF16.self)
                units.append(try #require(UInt16(digits, radix: 16)))
                position += 4
            default: units.append(kind)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
