import DiscoveryJSON
import Testing

@Suite("JSON strings give back the exact text")
struct JSONEveryScalarTests {
    @Test("Every Unicode scalar survives, and no control byte is written")
    func everyScalar() throws {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            var writer = JSONWriter()
            writer.string(String(scalar))
            let written = String(decoding: writer.bytes, as: UTF8.self)
            if writer.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { Issue.record("raw control for \(value)") }
            if try read(written) != String(scalar) { Issue.record("\(written) is not U+\(String(value, radix: 16))") }
        }
    }

    /// A reader that was written from RFC 8259 §7 alone.
    private func read(_ text: String) throws -> String {
        var units: [UInt16] = []
        var rest = try #require(text.utf16.dropFirst().dropLast() as Substring.UTF16View?)
        while let unit = rest.popFirst() {
            guard unit == 0x5C else {
                units.append(unit)
                continue
            }
            let kind = try #require(rest.popFirst())
            switch Unicode.Scalar(kind) {
            case "b": units.append(0x08)
            case "t": units.append(0x09)
            case "n": units.append(0x0A)
            case "f": units.append(0x0C)
            case "r": units.append(0x0D)
            case "u":
                let digits = try #require(String(rest.prefix(4)))
                units.append(try #require(UInt16(digits, radix: 16)))
                rest = rest.dropFirst(4)
            default: units.append(kind)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
