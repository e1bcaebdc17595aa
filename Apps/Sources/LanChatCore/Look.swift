/// Finds texts that could be mistaken for each other: they share a look.
///
/// Each text has two looks: as written, and case-insensitive. Uses a small part of the confusables of UTS #39, for the scripts of
/// `Alphabet`. It equates more than a careful reader would, which only means that a nick counts as taken.
enum Look {
    /// The looks of a text; two texts look alike if they share one.
    static func looks(of text: String) -> Set<String> {
        ["as written: " + fold(letters(text).lowercased()), "any case: " + fold(letters(text.lowercased()))]
    }

    private static func letters(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // They choose how an emoji looks, nothing else.
            case 0xFE0E, 0xFE0F: continue
            case 0xDF, 0x1E9E: result += "ss"
            default:
                let digit = scalar.properties.generalCategory == .decimalNumber ? scalar.properties.numericValue : nil
                let plain = digit.flatMap { (0...9).contains($0) ? Character("\(Int($0))") : nil } ?? Character(scalar)
                result.append(table[plain] ?? plain)
            }
        }
        return result
    }

    /// Folds letters that together look like another, and blanks that look like none or one.
    private static func fold(_ text: String) -> String {
        var text = text
        for (pair, letter) in [("rn", "m"), ("vv", "w"), ("  ", " ")] {
            while text.contains(pair) { text = text.replacing(pair, with: letter) }
        }
        return text
    }

    private static let table: [Character: Character] = {
        var table: [Character: Character] = [:]
        for (from, to) in lists {
            for (one, other) in zip(from, to) { table[one] = other }
        }
        return table
    }()

    /// Characters, and the character that each looks like.
    private static let lists: [(String, String)] = [
        // ASCII, and other Latin letters.
        ("1I|0`", "lllo'"),
        ("\u{131}\u{237}\u{138}\u{185}\u{1C0}", "ijkbl"),
        ("\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2019}", "-----'"),
        // Cyrillic.
        ("абвеѐёзийкмнорстухьѕіїјһүԁԛԝӏ", "a6beèë3u\u{439}kmhopctyxbsiïjhydqwl"),
        ("АВЕЀЁЗКМНОРСТУХЬЅІЇЈҮԀԚԜӀ", "ABEÈË3KMHOPCTYXbSlÏJYdQWl"),
        // Greek.
        ("αβγεηικνορσςτυχωϳάέήίόύϊϋ", "abyenikvopoctuxwjáéńíóúïü"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧΆΈΊΌΎΪΫ", "ABEZHlKMNOPTYXÁÉÍÓÝÏŸ"),
        // Armenian, Hebrew, Arabic.
        ("\u{585}\u{57D}\u{570}\u{578}\u{566}\u{581}\u{575}\u{555}\u{54D}\u{54F}", "ouhnqgjOUS"),
        ("\u{5D5}\u{5DF}\u{5E1}\u{627}\u{647}", "llolo"),
        // Katakana, and the characters it resembles.
        ("ロカエニハタトヘリオチ", "口力工二八夕卜へり才千"),
    ]
}
