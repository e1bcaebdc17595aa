/// A chat name: 1 to 32 characters, without a colon, which would end it in a line; not like a notice; all letters of one script, so that
/// none passes for another's.
public struct Nick: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length in characters.
    public static let maximumLength = 32
    /// The maximum number of marks on a letter. Vietnamese, Hebrew and the scripts of India need three.
    private static let maximumMarks = 3

    /// Why a text is not a nick.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The reason as a clause, safe for a terminal.
        public let description: String
    }

    /// The name; safe for a terminal.
    public let description: String
    /// The nick's looks; nicks that share one could be mistaken for each other.
    let looks: Set<String>

    /// Creates a nick from clean text.
    public init(_ text: String) throws(Refusal) {
        guard (1...Self.maximumLength).contains(text.count), text.utf8.count <= 4 * Self.maximumLength,
            !text.contains(":"), !text.hasPrefix("*"), !text.contains("\u{FFFD}"), text.first != " ", text.last != " "
        else {
            throw Refusal(
                description: "a nick has 1 to \(Self.maximumLength) printable characters, no colon and no leading *")
        }
        try Self.check(text)
        description = text
        looks = Look.looks(of: text)
    }

    /// Whether both differ at most in case and normalisation.
    func isSame(as other: Nick) -> Bool { description.lowercased() == other.description.lowercased() }

    private static func check(_ text: String) throws(Refusal) {
        var alphabets: Set<Alphabet> = []
        var marks = 0
        for scalar in text.unicodeScalars {
            let kind = Kind(scalar)
            marks = kind == .mark ? marks + 1 : 0
            switch kind {
            case .letter(let alphabet): alphabets.insert(alphabet)
            case .plain: continue
            case .mark:
                guard marks <= maximumMarks else {
                    throw Refusal(description: "a nick has \(maximumMarks) marks on a letter at most")
                }
            case .refused: throw Refusal(description: "a nick has no \(scalar.codePoint)")
            }
        }
        if text.unicodeScalars.first.map({ Kind($0) }) == .mark {
            throw Refusal(description: "a nick does not begin with a mark")
        }
        guard Alphabet.mix(alphabets) else {
            throw Refusal(description: "a nick has letters of one alphabet only: some look like another's")
        }
    }

    /// A character's role in a nick.
    private enum Kind: Hashable {
        case letter(Alphabet)
        /// A digit, an emoji, ASCII punctuation: unambiguous.
        case plain
        /// Combines with the letter before it.
        case mark
        case refused

        init(_ scalar: Unicode.Scalar) {
            let properties = scalar.properties
            switch properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter:
                self = scalar.isVariant ? .refused : Alphabet(scalar).map { .letter($0) } ?? .refused
            case .decimalNumber: self = scalar.isVariant ? .refused : .plain
            case .nonspacingMark, .spacingMark: self = .mark
            default:
                let isPunctuation = [0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2019].contains(scalar.value)
                self = scalar.isASCII || properties.isEmoji || isPunctuation ? .plain : .refused
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is a variant of ordinary letters: full width, mathematical, a ligature.
    fileprivate var isVariant: Bool {
        switch value {
        // ß, ẞ, ς, Thai and Lao am: ordinary letters that case folding or NFKC decomposes.
        case 0xDF, 0x1E9E, 0x3C2, 0xE33, 0xEB3: false
        default:
            properties.lowercaseMapping.unicodeScalars.contains { $0.properties.changesWhenNFKCCaseFolded }
        }
    }

    /// `U+1D41A`.
    fileprivate var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
