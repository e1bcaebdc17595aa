import Testing

@testable import AvahiEngine

/// D-Bus specification, "Message Protocol" and "Authentication Protocol".
@Suite struct NameOwnerConversationTests {
    private let name = "org.freedesktop.Avahi"

    private func authenticated() -> NameOwnerConversation {
        var conversation = NameOwnerConversation(about: name)
        _ = conversation.received(Array("OK 1234deadbeef\r\n".utf8))
        return conversation
    }

    @Test func saysWhoItIsAndAsks() throws {
        #expect(BusStream.greeting(user: 1000) == [0] + Array("AUTH EXTERNAL 31303030\r\n".utf8))
        var conversation = NameOwnerConversation(about: name)
        #expect(conversation.received(Array("OK 12".utf8)) == [])
        let steps = conversation.received(Array("34\r\n".utf8))
        guard case .send(let bytes)? = steps.first, steps.count == 1 else {
            Issue.record("\(steps)")
            return
        }
        var rest = bytes[...]
        #expect(rest.starts(with: Array("BEGIN\r\n".utf8)))
        rest = rest.dropFirst(7)
        for member in ["Hello", "AddMatch", "NameHasOwner"] {
            let length = try #require(BusMessage.length(of: Array(rest)))
            let message = try #require(BusMessage(Array(rest.prefix(length))))
            #expect(message.kind == .methodCall && message.member == member)
            rest = rest.dropFirst(length)
        }
        #expect(rest.isEmpty)
    }

    @Test func isToldWhetherThereIsAnOwnerAndWhenThatChanges() {
        var conversation = authenticated()
        #expect(conversation.received(Self.answer(to: 1, .string(":1.7"))) == [])
        #expect(conversation.received(Self.answer(to: 3, .number(0))) == [.owned(false)])
        #expect(conversation.received(Self.changed(name, "", ":1.9")) == [.owned(true)])
        #expect(conversation.received(Self.changed("org.other", ":1.9", "")) == [])
        #expect(conversation.received(Self.changed(name, ":1.9", "")) == [.owned(false)])
        #expect(conversation.received(Self.answer(to: 3, .number(1))) == [.owned(true)])
    }

    @Test func readsWhatComesByteByByte() {
        var conversation = NameOwnerConversation(about: name)
        var steps: [NameOwnerConversation.Step] = []
        for byte in Array("OK 1\r\n".utf8) + Self.answer(to: 3, .number(0)) + Self.changed(name, "", ":1.9") {
            steps += conversation.received([byte])
        }
        #expect(steps.dropFirst() == [.owned(false), .owned(true)])
    }

    @Test func whatMakesNoSenseIsTheEnd() {
        var refused = NameOwnerConversation(about: name)
        #expect(refused.received(Array("REJECTED EXTERNAL\r\n".utf8)) == [.over])
        #expect(refused.received(Array("OK 1\r\n".utf8)) == [])
        var endless = NameOwnerConversation(about: name)
        #expect(endless.received([UInt8](repeating: 65, count: 70_000)) == [.over])
        var huge = authenticated()
        #expect(huge.received([UInt8](repeating: 255, count: 16)) == [.over])
        var error = authenticated()
        #expect(error.received(Self.message(kind: 3, reply: 1, member: nil, [])) == [.over])
    }

    /// Whatever a message contains, and wherever it is cut off, it must not end the process.
    @Test func anyBytes() {
        let whole = Self.changed(name, "", ":1.9")
        for place in whole.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var bytes = whole
                bytes[place] = value
                var conversation = authenticated()
                _ = conversation.received(bytes)
                _ = BusMessage(bytes)
            }
            _ = BusMessage(Array(whole[..<place]))
        }
    }

    @Test(arguments: [
        ("unix:path=/run/dbus/system_bus_socket", ["/run/dbus/system_bus_socket"]),
        ("unix:path=/a%20b,guid=12;tcp:host=x;unix:guid=1,path=/c", ["/a b", "/c"]),
        ("unix:abstract=/x", []), ("unix:path=/a%2", []), ("unix:path=/a%00", []), ("", []),
    ])
    func socketsOfAnAddress(_ address: String, _ paths: [String]) {
        #expect(BusAddress.sockets(in: address) == paths)
    }

    private enum Value {
        case number(UInt32)
        case string(String)
    }

    private static func answer(to serial: UInt32, _ value: Value) -> [UInt8] {
        message(kind: 2, reply: serial, member: nil, [value])
    }

    private static func changed(_ name: String, _ old: String, _ new: String) -> [UInt8] {
        message(kind: 4, reply: nil, member: "NameOwnerChanged", [.string(name), .string(old), .string(new)])
    }

    /// Encodes a message as a bus on a little-endian machine does.
    private static func message(kind: UInt8, reply: UInt32?, member: String?, _ values: [Value]) -> [UInt8] {
        func pad(_ bytes: inout [UInt8], _ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        func text(_ value: String) -> [UInt8] { number(UInt32(value.utf8.count)) + Array(value.utf8) + [0] }
        var fields: [UInt8] = []
        if let reply { fields += [5, 1, UInt8(ascii: "u"), 0] + number(reply) }
        if let member {
            pad(&fields, 8)
            fields += [3, 1, UInt8(ascii: "s"), 0] + text(member)
        }
        var body: [UInt8] = []
        for value in values {
            pad(&body, 4)
            switch value {
            case .number(let value): body += number(value)
            case .string(let value): body += text(value)
            }
        }
        var message =
            [UInt8(ascii: "l"), kind, 0, 1] + number(UInt32(body.count)) + number(9) + number(UInt32(fields.count))
        message += fields
        pad(&message, 8)
        return message + body
    }
}
