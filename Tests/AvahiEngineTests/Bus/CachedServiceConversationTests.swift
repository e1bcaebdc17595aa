import DNSSD
import Testing

@testable import AvahiEngine

/// D-Bus specification, "Message Protocol"; avahi-daemon/org.freedesktop.Avahi.Server.xml for the signatures.
@Suite("asking avahi-daemon's cache") struct CachedServiceConversationTests {
    private func conversation() throws -> CachedServiceConversation {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        var conversation = CachedServiceConversation(about: instance, on: [2, 3])
        let steps = conversation.received(Array("OK 1\r\n".utf8))
        guard case .send(let bytes)? = steps.first else { throw TestFailure() }
        #expect(try members(bytes.dropFirst(BusStream.begin.count)) == ["Hello", "ResolveService", "ResolveService"])
        #expect(conversation.received(BusReply(to: 1).string(":1.7").bytes) == [])
        return conversation
    }

    private struct TestFailure: Error {}

    private func members(_ bytes: ArraySlice<UInt8>) throws -> [String] {
        var (rest, members) = (bytes, [String]())
        while !rest.isEmpty {
            let length = try #require(BusMessage.length(of: Array(rest)))
            members.append(try #require(BusMessage(Array(rest.prefix(length)))?.member))
            rest = rest.dropFirst(length)
        }
        return members
    }

    private func service(_ serial: UInt32, on interface: UInt32, flags: UInt32 = 4) -> [UInt8] {
        BusReply(to: serial).number(interface).number(0).string("tony").string("_witap._tcp").string("local")
            .string("h1.local").number(.max).string("").number16(9000)
            .strings([Array("a=b".utf8), [], Array("c=".utf8) + [0, 255]]).number(flags).bytes
    }

    @Test(arguments: [IPAddress.Family.ipv4, .ipv6])
    func asksOverOneFamilyAlone(_ family: IPAddress.Family) throws {
        let instance = ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp"))
        var conversation = CachedServiceConversation(about: instance, on: [2], over: family)
        guard case .send(let asked)? = conversation.received(Array("OK 1\r\n".utf8)).first else { throw TestFailure() }
        let number: UInt8 = family == .ipv4 ? 0 : 1
        #expect(asked.contains([2, 0, 0, 0, number, 0, 0, 0, 4, 0, 0, 0] + Array("tony".utf8)))
        let steps = conversation.received(service(2, on: 2))
        #expect(steps.count == 3)
        for case .send(let bytes) in steps {
            #expect(bytes.contains([2, 0, 0, 0, number, 0, 0, 0, 8, 0, 0, 0] + Array("h1.local".utf8)))
        }
    }

    @Test func asksEachInterfaceAndThenForBothFamilies() throws {
        var conversation = try conversation()
        let steps = conversation.received(service(2, on: 2, flags: 8))
        #expect(steps.first == .answered)
        let asked = try steps.dropFirst().flatMap { step in
            guard case .send(let bytes) = step else { throw TestFailure() }
            return try members(bytes[...])
        }
        #expect(asked == ["ResolveHostName", "ResolveHostName"])
        #expect(conversation.answers.count == 1)
        #expect(conversation.answers[0].host.text == "h1.local")
        #expect(conversation.answers[0].port?.rawValue == 9000)
        #expect(conversation.answers[0].txt.strings == [Array("a=b".utf8), Array("c=".utf8) + [0, 255]])
        #expect(conversation.answers[0].isLocal)
        #expect(conversation.answers[0].addresses.isEmpty)
        func host(_ serial: UInt32, _ family: UInt32, _ address: String) -> [UInt8] {
            BusReply(to: serial).number(2).number(0).string("h1.local").number(family).string(address).number(4).bytes
        }
        #expect(conversation.received(host(5, 1, "fe80::1")) == [.answered])
        #expect(conversation.received(host(4, 0, "10.77.0.1")) == [.answered])
        let scoped = IPAddress.v6(IPv6Address(high: 0xFE80_0000_0000_0000, low: 1), scope: 2)
        #expect(conversation.answers[0].addresses == [IPAddress("10.77.0.1"), scoped])
        // The other interface's answer was an error: it has nothing.
        #expect(conversation.received(BusReply(to: 3, isError: true).string("Timeout reached").bytes) == [.over])
    }

    @Test func aReplyOfAnotherInterfaceOrToNothingAskedIsNone() throws {
        var conversation = try conversation()
        #expect(conversation.received(service(2, on: 7)) == [])
        #expect(conversation.received(service(9, on: 3)) == [])
        #expect(conversation.answers.isEmpty)
    }

    /// Whatever a reply contains, and wherever it is cut off, it must not end the process.
    @Test func anyBytes() throws {
        let whole = service(2, on: 2)
        for place in whole.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var bytes = whole
                bytes[place] = value
                var conversation = try conversation()
                _ = conversation.received(bytes)
            }
        }
    }
}

/// A reply as a bus on a little-endian machine encodes it.
private struct BusReply {
    private let serial: UInt32
    private let isError: Bool
    private var body: [UInt8] = []

    init(to serial: UInt32, isError: Bool = false) { (self.serial, self.isError) = (serial, isError) }

    private func adding(_ size: Int, _ bytes: [UInt8]) -> BusReply {
        var reply = self
        while reply.body.count % size != 0 { reply.body.append(0) }
        reply.body += bytes
        return reply
    }

    private static func encoded(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    func number(_ value: UInt32) -> BusReply { adding(4, Self.encoded(value)) }

    func number16(_ value: UInt16) -> BusReply {
        adding(2, [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)])
    }

    func string(_ text: String) -> BusReply {
        adding(4, Self.encoded(UInt32(text.utf8.count)) + Array(text.utf8) + [0])
    }

    func strings(_ strings: [[UInt8]]) -> BusReply {
        var array: [UInt8] = []
        for string in strings {
            while array.count % 4 != 0 { array.append(0) }
            array += Self.encoded(UInt32(string.count)) + string
        }
        return adding(4, Self.encoded(UInt32(array.count)) + array)
    }

    var bytes: [UInt8] {
        let fields = [5, 1, UInt8(ascii: "u"), 0] + Self.encoded(serial)
        let head = [UInt8(ascii: "l"), isError ? 3 : 2, 0, 1] + Self.encoded(UInt32(body.count)) + Self.encoded(9)
        return head + Self.encoded(UInt32(fields.count)) + fields + body
    }
}
