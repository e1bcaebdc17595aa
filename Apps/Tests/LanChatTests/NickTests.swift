import AppSupport
import LanChatCore
import Testing

/// Nicks that a reader could mistake for each other count as the same.
@Suite("Nicks")
struct NickTests {
    /// The room's answer to a second client that wants `other` while `nick` is present.
    private func answer(_ nick: String, _ other: String) -> String {
        var room = ChatRoom<Int>()
        for (id, nick) in [(1, nick), (2, other)] {
            for delivery in room.received(.line(Array("iam:\(nick)".utf8)), from: id) {
                switch delivery {
                case .one(2, let text): if !text.hasPrefix("* here") { return text }
                case .everyone, .one: continue
                }
            }
        }
        return room.hasJoined(1) && room.hasJoined(2) ? "both" : "neither"
    }

    @Test(
        "the same letters in another case, normalisation or with variation selectors are taken",
        arguments: [
            ("anna", "ANNA"), ("caf\u{E9}", "cafe\u{301}"), ("caf\u{E9}", "CAFE\u{301}"), ("\u{3A3}", "\u{3C3}"),
        ])
    func same(_ nick: String, _ other: String) {
        #expect(answer(nick, other).hasSuffix("is taken"), "\(answer(nick, other))")
    }

    @Test(
        "letters that look like others are taken for them, in whole words of another alphabet, too",
        arguments: [
            ("coco", "\u{441}\u{43E}\u{441}\u{43E}"), ("BOB", "\u{412}\u{41E}\u{412}"),
            ("bob", "\u{412}\u{41E}\u{412}"), ("HANNA", "\u{397}\u{391}\u{39D}\u{39D}\u{391}"),
            ("alice", "aIice"), ("alice", "a1ice"), ("bob", "b0b"), ("Ian", "lan"), ("morn", "mom"),
            ("william", "vvilliam"), ("mia", "m\u{131}a"), ("o'hara", "o\u{2019}hara"), ("a b", "a  b"),
            ("anna7", "anna\u{667}"),
            ("\u{53E3}", "\u{30ED}"), ("x\u{2764}", "x\u{2764}\u{FE0F}"), ("yes", "\u{423}\u{435}\u{455}"),
            // The last of each list, which shows that both halves are equally long.
            ("l", "\u{4C0}"), ("l", "\u{4CF}"), ("\u{FC}", "\u{3CB}"), ("\u{178}", "\u{3AB}"), ("S", "\u{54F}"),
            ("o", "\u{647}"), ("\u{5343}", "\u{30C1}"), ("a-b", "a\u{2014}b"), ("alo", "a\u{1C0}o"),
        ])
    func alike(_ nick: String, _ other: String) {
        #expect(answer(nick, other).contains("looks like"), "\(nick) \(other): \(answer(nick, other))")
        #expect(answer(other, nick).contains("looks like"), "\(other) \(nick): \(answer(other, nick))")
    }

    @Test(
        "nicks that differ are two, in any writing",
        arguments: [
            ("anna", "anne"), ("elan", "\u{E9}lan"), ("\u{418}\u{432}\u{430}\u{43D}", "Ivan"),
            ("\u{6771}\u{4EAC}", "\u{4EAC}\u{6771}"), ("Gro\u{DF}", "Grog"),
            ("\u{5D3}\u{5DF}", "\u{5D3}\u{5E0}"), ("\u{E19}\u{E49}\u{E33}", "\u{E19}\u{E33}"),
            ("\u{1F600}", "\u{1F601}"), ("Ti\u{1EBF}n", "Tien"), ("\u{D55C}\u{AE00} Kim", "\u{D55C}\u{AE00}"),
            ("\u{915}\u{94D}\u{937}\u{940}", "\u{915}\u{937}"),
        ])
    func different(_ nick: String, _ other: String) {
        #expect(answer(nick, other) == "both", "\(nick) \(other)")
    }

    @Test(
        "letters of several alphabets, other forms of letters, floods of marks and signs that pass for others are refused",
        arguments: [
            ("al\u{456}\u{441}e", "one alphabet"), ("p\u{430}ul", "one alphabet"), ("\u{3BF}k", "one alphabet"),
            ("a" + String(repeating: "\u{301}", count: 4), "3 marks"), ("\u{301}a", "begin with a mark"),
            ("\u{FF41}nna", "U+FF41"), ("\u{1D41A}nna", "U+1D41A"), ("\u{FB01}n", "U+FB01"), ("\u{13AA}l", "U+13AA"),
            ("anna\u{A789} hi", "U+A789"), ("anna\u{FF1A} hi", "U+FF1A"), ("anna\u{2236}", "U+2236"),
            ("a\u{A0}b", "U+00A0"), ("a\u{20DD}", "U+20DD"), ("a\u{3000}b", "U+3000"), ("\u{251}nna", "U+0251"),
            ("\u{212B}sa", "U+212B"),
            ("a" + String(repeating: "\u{301}", count: 60), "3 marks"),
            ("a" + String(repeating: "\u{301}", count: 200), "1 to 32"),
        ])
    func refused(_ nick: String, _ reason: String) {
        #expect(throws: Nick.Refusal.self) { try Nick(nick) }
        let said = answer("someone", nick)
        #expect(said.contains(reason), "\(said)")
        #expect(said.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test("a nick is free once its owner leaves or takes another, and so are its look-alikes")
    func freed() {
        var room = ChatRoom<Int>()
        _ = room.received(.line(Array("iam:coco".utf8)), from: 1)
        _ = room.received(.line(Array("iam:anna".utf8)), from: 1)
        #expect(room.received(.line(Array("iam:\u{441}\u{43E}\u{441}\u{43E}".utf8)), from: 2).count == 2)
        _ = room.left(2)
        #expect(room.received(.line(Array("iam:coco".utf8)), from: 3).count == 2)
    }
}
