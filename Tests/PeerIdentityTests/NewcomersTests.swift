import DNSSD
import PeerIdentity
import Testing

struct NewcomersTests {
    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("no number of connections of one address keeps another address out, or puts it out")
    func oneAddress() throws {
        var room = Newcomers(limit: 64)
        let hostile = (0..<64).map { _ in room.came(from: IPAddress("10.0.0.9")).id }
        let friend = room.came(from: IPAddress("10.0.0.2"))
        #expect(friend.displaced == hostile[0])
        for number in 1..<200 {
            let other = room.came(from: try address("10.0.0.9"))
            #expect(other.displaced != nil && other.displaced != friend.id, "\(number)")
        }
        #expect(room.count == 64)
    }

    @Test("of as many addresses the oldest gives way, and one that has come further after all that have not")
    func manyAddresses() throws {
        var room = Newcomers(limit: 64)
        let friend = room.came(from: IPAddress("10.0.0.200")).id
        room.advanced(friend)
        var others = try (0..<63).map { room.came(from: try address("10.0.1.\($0)")).id }
        for number in 0..<63 {
            let (id, displaced) = room.came(from: try address("10.0.2.\(number)"))
            #expect(displaced == others.removeFirst())
            others.append(id)
        }
        for id in others { room.advanced(id) }
        #expect(room.came(from: IPAddress("10.0.3.1")).displaced == friend)
    }

    @Test(
        "addresses of one IPv6 network count together, against others and then among themselves; mapped ones are IPv4")
    func networks() throws {
        var room = Newcomers(limit: 8)
        _ = room.came(from: IPAddress("2001:db8:0:1::2"))
        let neighbour = room.came(from: IPAddress("2001:db8:0:2::2")).id
        let hostile = try (0..<6).map { room.came(from: try address("2001:db8:0:2::\($0 + 10)")).id }
        let other = room.came(from: IPAddress("2001:db8:0:2::ff"))
        #expect(other.displaced == neighbour)
        #expect(room.came(from: IPAddress("2001:db8:0:2::ff")).displaced == other.id)
        #expect(room.came(from: IPAddress("2001:db8:0:2::2")).displaced == hostile[0])
        var mapped = Newcomers(limit: 2)
        let first = mapped.came(from: IPAddress("10.0.0.9")).id
        _ = mapped.came(from: IPAddress("10.0.0.2"))
        #expect(mapped.came(from: IPAddress("::ffff:10.0.0.9")).displaced == first)
    }

    @Test("who has left makes room")
    func left() {
        var room = Newcomers(limit: 1)
        let one = room.came(from: nil).id
        room.left(one)
        let other = room.came(from: nil)
        #expect(other.displaced == nil && room.count == 1)
    }
}
