/// A script, as far as nicks need it: all letters of a nick must belong to one script.
///
/// Covers the recommended scripts of UAX #31, table 5, by the Unicode 15 blocks of their everyday letters.
enum Alphabet: Hashable {
    case latin
    case greek
    case cyrillic
    /// Han, kana, bopomofo and hangul, which are used together.
    case eastAsian
    /// Another script, identified by its first block.
    case other(UInt32)

    /// Nil if the letter's script is not listed here.
    init?(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x1E00...0x1EFF: self = .latin
        case 0x370...0x3FF, 0x1F00...0x1FFF: self = .greek
        case 0x400...0x52F: self = .cyrillic
        case 0x1100...0x11FF, 0x3005...0x3007, 0x3041...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xA960...0xA97F, 0xAC00...0xD7FF, 0x20000...0x323AF:
            self = .eastAsian
        case 0x531...0x58F: self = .other(0x531)
        case 0x591...0x5FF: self = .other(0x591)
        case 0x600...0x6FF, 0x750...0x77F, 0x8A0...0x8FF: self = .other(0x600)
        case 0x780...0x7BF: self = .other(0x780)
        // Devanagari to Lao: one block of 128 code points each.
        case 0x900...0xEFF: self = .other(scalar.value & ~0x7F)
        case 0xF00...0xFFF: self = .other(0xF00)
        case 0x1000...0x109F: self = .other(0x1000)
        case 0x10A0...0x10FF, 0x1C90...0x1CBF: self = .other(0x10A0)
        case 0x1200...0x139F: self = .other(0x1200)
        case 0x1780...0x17FF: self = .other(0x1780)
        default: return nil
        }
    }

    /// Whether a nick may combine letters of these scripts.
    static func mix(_ alphabets: Set<Alphabet>) -> Bool {
        // "Highly restrictive" in UTS #39, section 5.2.
        alphabets.count < 2 || alphabets == [.latin, .eastAsian]
    }
}
