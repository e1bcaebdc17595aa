import DNSSD
import Discovery
import Testing

@Suite("The kernel's routes (rtnetlink(7))")
struct RouteMessageTests {
    @Test("the system answers for this machine's own addresses, and for unreachable ones")
    func system() throws {
        let routes = SystemRoutes()
        let loopback = try parsed("127.0.0.1")
        #expect(routes.route(to: loopback) == .own)
        #expect(routes.route(to: loopback) == .own, "from memory")
        let (broadcast, group) = (try parsed("255.255.255.255"), try parsed("224.0.0.251"))
        #expect(routes.route(to: broadcast) == nil)
        #expect(routes.route(to: group) == nil)
    }

    @Test("an answer: the interface, and whether a router stands between")
    func answers() throws {
        #expect(Self.answer(type: 1, [(4, [3, 0, 0, 0])]) == .leaves(by: 3, isDirect: true))
        #expect(
            Self.answer(type: 1, [(1, [10, 0, 0, 1]), (5, [10, 0, 0, 9]), (4, [3, 0, 0, 0])])
                == .leaves(by: 3, isDirect: false))
        #expect(
            Self.answer(type: 1, [(18, [2, 0, 10, 0, 0, 9]), (4, [3, 0, 0, 0])]) == .leaves(by: 3, isDirect: false))
        #expect(Self.answer(type: 2, [(4, [1, 0, 0, 0])]) == .own)
        #expect(Self.answer(type: 3, [(4, [3, 0, 0, 0])]) == nil, "RTN_BROADCAST")
        #expect(Self.answer(type: 7, [(4, [3, 0, 0, 0])]) == nil, "RTN_UNREACHABLE")
        #expect(Self.answer(type: 1, []) == nil)
    }

    @Test("a truncated answer, or one to another question, is not a route, at whatever byte it ends")
    func cutShort() {
        let whole = Self.bytes(type: 1, [(5, [10, 0, 0, 9]), (4, [3, 0, 0, 0])])
        #expect(RouteMessage.answer(whole[...], sequence: 8) == nil)
        for end in 0..<whole.count {
            let answer = RouteMessage.answer(whole[..<end], sequence: 7)
            #expect(answer?.route == nil, "\(end) bytes")
        }
    }

    private static func answer(type: UInt8, _ attributes: [(UInt16, [UInt8])]) -> Route? {
        RouteMessage.answer(bytes(type: type, attributes)[...], sequence: 7)?.route
    }

    /// RTM_NEWROUTE as the kernel of a little-endian machine writes it.
    private static func bytes(type: UInt8, _ attributes: [(UInt16, [UInt8])]) -> [UInt8] {
        var body: [UInt8] = [2, 32, 0, 0, 254, 0, 0, type, 0, 0, 0, 0]
        for (kind, value) in attributes {
            body += [UInt8(4 + value.count), 0, UInt8(kind), 0] + value
            body += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        return [UInt8(16 + body.count), 0, 0, 0, 24, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0] + body
    }
}
