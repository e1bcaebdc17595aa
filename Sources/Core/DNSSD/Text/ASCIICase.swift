extension UInt8 {
    /// The byte with an ASCII letter in lower case: DNS ignores the case of ASCII letters only (RFC 4343).
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension Sequence<UInt8> {
    func elementsEqualIgnoringASCIICase(_ other: some Sequence<UInt8>) -> Bool {
        elementsEqual(other) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension Hasher {
    /// Hashes eight bytes at a time, because names are hashed more often than anything else.
    package mutating func combine(utf8 text: String, foldingCase: Bool) {
        var word: UInt64 = 0
        var count = 0
        for byte in text.utf8 {
            word = word << 8 | UInt64(foldingCase ? byte.asciiLowercased : byte)
            count += 1
            if count & 7 == 0 {
                combine(word)
                word = 0
            }
        }
        combine(word)
        combine(count)
    }
}

extension String {
    /// Compares byte for byte; `==` compares by canonical equivalence.
    func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Compares as DNS compares names.
    package func hasSameFoldedBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqualIgnoringASCIICase(other.utf8)
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isASCIILetter: Bool { asciiLowercased >= 0x61 && asciiLowercased <= 0x7A }
    package var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }
}

extension StringProtocol {
    /// Compares as DNS compares names.
    func isSameDNSLabel(as other: some StringProtocol) -> Bool { utf8.elementsEqualIgnoringASCIICase(other.utf8) }

    /// Orders consistently with `isSameDNSLabel(as:)`.
    func precedesAsDNSLabel(_ other: some StringProtocol) -> Bool {
        utf8.lazy.map(\.asciiLowercased).lexicographicallyPrecedes(other.utf8.lazy.map(\.asciiLowercased))
    }
}
