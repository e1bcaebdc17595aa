import AppSupport
import LanChatCore
import PeerIdentity
import Testing

/// Nicks in a room whose members have proven keys.
@Suite("A chat room of keys, as a value")
struct NickOwnersTests {
    private func line(_ text: String) -> LineFraming.Line { .line(Array(text.utf8)) }

    private func key(_ number: Int) throws -> KeyFingerprint {
        try #require(KeyFingerprint((0..<32).map { UInt8(truncatingIfNeeded: $0 < 2 ? number >> ($0 * 8) : 0) }))
    }

    /// Whether a client with a key, which comes and goes, gets a nick.
    private func gets(_ nick: String, _ number: Int, in room: inout ChatRoom<Int>) throws -> Bool {
        let id = 100_000 + number
        room.proven(try key(number), of: id)
        defer { _ = room.left(id) }
        return room.received(line("iam:\(nick)"), from: id).first == .everyone("\(nick) has joined")
    }

    @Test("a nick, and what looks like it, stays with its key while that is away")
    func away() throws {
        var room = ChatRoom<Int>()
        #expect(try gets("anna", 1, in: &room))
        room.proven(try key(2), of: 2)
        #expect(room.received(line("iam:Anna"), from: 2) == [.one(2, "* the nick Anna is another's here")])
        #expect(!room.hasJoined(2))
        #expect(room.received(line("iam:bob"), from: 2).first == .everyone("bob has joined"))
        #expect(room.received(line("iam:annа"), from: 2).first != .everyone("* bob is now: annа"), "a Cyrillic а")
        #expect(try gets("anna", 1, in: &room))
    }

    @Test("two clients of one key do not have one nick at a time")
    func twice() throws {
        var room = ChatRoom<Int>()
        for id in 1...2 { room.proven(try key(1), of: id) }
        _ = room.received(line("iam:anna"), from: 1)
        #expect(room.received(line("iam:anna"), from: 2) == [.one(2, "* the nick anna is taken")])
    }

    @Test("who is renamed keeps the former nick, too; a key has its newest eight")
    func renamed() throws {
        var room = ChatRoom<Int>()
        room.proven(try key(1), of: 1)
        for number in 0..<8 { _ = room.received(line("iam:nick \(number)"), from: 1) }
        #expect(try !gets("nick 0", 2, in: &room))
        _ = room.received(line("iam:another"), from: 1)
        #expect(try gets("nick 0", 2, in: &room))
        for number in 1..<8 { #expect(try !gets("nick \(number)", 3, in: &room)) }
    }

    @Test("of many keys the last thousand keep their nicks")
    func many() throws {
        var room = ChatRoom<Int>()
        for number in 0..<1024 { #expect(try gets("nick \(number)", number, in: &room)) }
        #expect(try !gets("nick 0", 2000, in: &room))
        #expect(try gets("nick 0", 0, in: &room), "and is the newest from now on")
        #expect(try gets("another", 1024, in: &room))
        #expect(try gets("nick 1", 2000, in: &room), "the oldest")
        #expect(try !gets("nick 0", 2001, in: &room))
    }

    @Test("without keys a nick is free when it is given up")
    func plain() {
        var room = ChatRoom<Int>()
        _ = room.received(line("iam:anna"), from: 1)
        _ = room.left(1)
        #expect(room.received(line("iam:anna"), from: 2).first == .everyone("anna has joined"))
    }
}
