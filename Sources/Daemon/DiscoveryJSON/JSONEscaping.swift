/// How the characters of a string are written in JSON.
enum JSONEscaping {
    private static let hexadecimal = Array("0123456789abcdef".utf8)

    /// Appends `text` without quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        // Nearly all text is plain.
        let isAppended = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard unsafe utf8.allSatisfy(isPlain) else { return false }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if isAppended != true { appendEscaped(text, to: &bytes) }
    }

    /// Printable ASCII that stands for itself in a string.
    private static func isPlain(_ byte: UInt8) -> Bool { 0x20..<0x7F ~= byte && byte != 0x22 && byte != 0x5C }

    private static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: bytes += [0x5C, UInt8(truncatingIfNeeded: scalar.value)]
            case 0x20..<0x7F: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case 0x08: bytes += [0x5C, 0x62]
            case 0x09: bytes += [0x5C, 0x74]
            case 0x0A: bytes += [0x5C, 0x6E]
            case 0x0C: bytes += [0x5C, 0x66]
            case 0x0D: bytes += [0x5C, 0x72]
            default:
                if isHidden(scalar) {
                    for unit in UTF16.encode(scalar) ?? .init() { appendEscape(unit, to: &bytes) }
                } else {
                    bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
                }
            }
        }
    }

    /// Whether a character must not reach a terminal as it is: controls (C0, DEL, C1), format characters (bidi controls,
    /// zero-width, tags), everything else that is not to be seen, and the line separators of Unicode.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isNoncharacterCodePoint
        }
    }

    private static func appendEscape(_ unit: UInt16, to bytes: inout [UInt8]) {
        bytes += [0x5C, 0x75]
        for shift in [12, 8, 4, 0] { bytes.append(hexadecimal[Int(unit >> shift) & 0xF]) }
    }
}
