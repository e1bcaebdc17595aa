/// Base64 with the standard alphabet and padding (RFC 4648 §4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Returns the text for any bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count / 3 + 1) * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text; nil if a character is not in the alphabet, padding is missing or misplaced, or
    /// unused bits are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let pads = characters.reversed().prefix(2).prefix { $0 == padding }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for character in characters.dropLast(pads) {
            guard let value = value(of: character) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
