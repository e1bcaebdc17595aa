extension Character {
    /// How many columns of a terminal it takes.
    var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return unicodeScalars.contains { $0.value == 0xFE0F } ? 2 : 1
        }
    }
}

extension String {
    /// The end of the text that fits into so many columns.
    public func tail(columns: Int) -> String {
        var room = columns
        var tail: [Character] = []
        for character in reversed() {
            room -= character.columns
            guard room >= 0 else { break }
            tail.append(character)
        }
        return String(tail.reversed())
    }
}
