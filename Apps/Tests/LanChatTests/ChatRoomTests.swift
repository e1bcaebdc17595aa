import AppSupport
import LanChatCore
import Testing

@Suite("A chat room as a value")
struct ChatRoomTests {
    private func line(_ text: String) -> LineFraming.Line { .line(Array(text.utf8)) }

    private func room(_ nicks: String...) -> ChatRoom<Int> {
        var room = ChatRoom<Int>()
        for (id, nick) in nicks.enumerated() { _ = room.received(line("iam:\(nick)"), from: id + 1) }
        return room
    }

    @Test("joining, speaking and leaving are reported to everyone")
    func story() {
        var room = ChatRoom<Int>()
        #expect(
            room.received(line("iam:anna"), from: 1) == [.everyone("anna has joined"), .one(1, "* here: anna")])
        #expect(room.received(line("msg:hello: all"), from: 1) == [.everyone("anna: hello: all")])
        #expect(room.count == 1)
        #expect(room.left(1) == [.everyone("anna has left")])
        #expect(room.count == 0 && !room.hasJoined(1))
        #expect(room.left(1).isEmpty)
    }

    @Test("a second iam is another nick, and one belongs to one client, whatever its case, until it leaves")
    func nicks() {
        var room = room("anna")
        #expect(room.received(line("iam:anna"), from: 1) == [.one(1, "* you are anna already")])
        #expect(room.received(line("iam:Anna"), from: 2) == [.one(2, "* the nick Anna is taken")])
        #expect(!room.hasJoined(2))
        #expect(room.received(line("iam:ANNA"), from: 1) == [.everyone("* anna is now: ANNA")])
        #expect(room.received(line("iam:bob"), from: 1) == [.everyone("* ANNA is now: bob")])
        #expect(room.received(line("msg:hi"), from: 1) == [.everyone("bob: hi")])
        #expect(room.received(line("iam:anna"), from: 2).first == .everyone("anna has joined"))
        #expect(room.received(line("iam:anna"), from: 1) == [.one(1, "* the nick anna is taken")])
        _ = room.left(1)
        #expect(room.received(line("iam:Bob"), from: 3).first == .everyone("Bob has joined"))
    }

    @Test("newcomers and askers get the list of members in one line, however many there are")
    func who() {
        var room = room("carl", "anna", "bob")
        #expect(room.received(line("who:"), from: 9) == [.one(9, "* here: anna, bob, carl")])
        #expect(room.received(line("iam:dora"), from: 4).last == .one(4, "* here: anna, bob, carl, dora"))
        for id in 10..<1000 { _ = room.received(line("iam:a nick of some length, \(id)"), from: id) }
        guard case .one(1, let text)? = room.received(line("who:"), from: 1).first else {
            Issue.record("no answer")
            return
        }
        #expect(text.utf8.count <= ChatText.maximumLine)
        #expect(text.contains(/, and \d+ more$/))
        var empty = ChatRoom<Int>()
        #expect(empty.received(line("who:"), from: 1) == [.one(1, "* nobody is here")])
    }

    @Test(
        "nicks that could pass for something else are refused",
        arguments: [
            "", " ", "a:b", "* server", String(repeating: "x", count: 33), "a\u{1B}[2Jb", "\u{202E}anna", "a\u{200B}",
        ])
    func badNicks(_ nick: String) {
        var room = ChatRoom<Int>()
        guard case .one(1, let text)? = room.received(line("iam:\(nick)"), from: 1).first else {
            Issue.record("\(nick.debugDescription) was accepted")
            return
        }
        #expect(text.hasPrefix("* a nick has"))
        #expect(!room.hasJoined(1))
    }

    @Test("clients that have not joined cannot speak, and an invalid request is reported to its sender only")
    func refused() {
        var room = room("anna")
        #expect(room.received(line("msg:x"), from: 2) == [.one(2, "* say who you are first: iam:NICK")])
        #expect(room.received(line("GET / HTTP/1.1"), from: 1) == [.one(1, "* a line is iam:NICK, msg:TEXT or who:")])
        #expect(room.received(.tooLong, from: 1) == [.one(1, "* that line is too long: 4096 bytes at most")])
        #expect(room.received(line(""), from: 1).isEmpty)
        #expect(room.received(line("msg:   "), from: 1).isEmpty)
    }

    @Test("escape sequences, controls and bytes that are no UTF-8 are replaced before they are passed on")
    func clean() {
        #expect(ChatText.clean("a\u{1B}[2Jb\u{7}\u{9B}c".utf8) == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}c")
        #expect(ChatText.clean([0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
        #expect(ChatText.clean("\u{202E}\u{200F}x".utf8) == "\u{FFFD}\u{FFFD}x")
        #expect(ChatText.clean("  caf\u{E9}\t\u{2764}\u{FE0F} ".utf8) == "caf\u{E9} \u{2764}\u{FE0F}")
    }
}

@Suite("A server's lines, as a client reads them")
struct ChatEventTests {
    @Test("each of the room's lines is read as it was meant")
    func lines() {
        #expect(ChatEvent(Array("anna has joined".utf8)) == .joined("anna"))
        #expect(ChatEvent(Array("anna has left".utf8)) == .left("anna"))
        #expect(ChatEvent(Array("anna: bob has left".utf8)) == .message(nick: "anna", text: "bob has left"))
        #expect(ChatEvent(Array("* the room is full".utf8)) == .notice("the room is full"))
        #expect(ChatEvent(Array("* a is now b is now: c".utf8)) == .renamed(was: "a is now b", nick: "c"))
        #expect(
            ChatEvent(Array("* say who you are first: iam:NICK".utf8)) == .notice("say who you are first: iam:NICK"))
    }

    @Test("lines of another server are notices, and can do no harm either")
    func foreign() {
        #expect(ChatEvent(Array(" has joined".utf8)) == .notice("has joined"))
        #expect(ChatEvent(Array(": x".utf8)) == .notice(": x"))
        #expect(ChatEvent(Array("\u{1B}]0;x\u{7}".utf8)) == .notice("\u{FFFD}]0;x\u{FFFD}"))
        #expect(ChatEvent([]) == .notice(""))
    }
}

@Suite("How much one client may say")
struct PaceTests {
    @Test("a burst passes, then reading pauses for as long as the lines need")
    func burst() {
        var pace = Pace(burst: 10, perSecond: 5, now: .zero)
        #expect(pace.took(10, now: .zero) == .zero)
        #expect(pace.took(5, now: .zero) == .seconds(1))
        #expect(pace.took(0, now: .seconds(1)) == .zero)
    }

    @Test("unused allowance accumulates up to the burst, not more")
    func saved() {
        var pace = Pace(burst: 10, perSecond: 5, now: .zero)
        #expect(pace.took(15, now: .seconds(3600)) == .seconds(1))
    }
}
