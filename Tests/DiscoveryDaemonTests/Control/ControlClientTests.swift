import DNSSD
import Glibc
import Testing

@testable import DiscoveryControl

@Suite("Requests over the control socket") struct ControlClientTests {
    /// The result of a request for which no time is left, where bytes of an answer are there already.
    private func result(_ answer: [UInt8]) throws -> Result<[UInt8], ControlError> {
        var pair: [Int32] = [-1, -1]
        let made = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair)
        try #require(made == 0)
        let (ours, theirs) = (pair[0], pair[1])
        defer { close(theirs) }
        let sent = send(theirs, answer, answer.count, Int32(MSG_DONTWAIT))
        try #require(sent == answer.count)
        let connect: @Sendable () -> Result<UnixConnection, DiscoveryError> = {
            Result(catching: { () throws(DiscoveryError) in
                try UnixConnection(connected: ours, whyItEnded: { nil })
            })
        }
        let place = ControlPlace(peer: "a", became: { _ in }, connect: connect)
        return ControlClient(place).answer(to: ControlClient.Request("GET", "/v1/services"), within: .zero)
    }

    @Test("the limit is of the whole answer, though bytes of it keep coming") func limit() throws {
        func answer(_ count: Int) -> [UInt8] {
            Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8) + [UInt8](repeating: 0x20, count: count)
        }
        #expect(try result(answer(10)).get().count == 10)
        // Longer than what is read at once.
        guard case .failure(let error) = try result(answer(100_000)) else {
            Issue.record("it waited longer")
            return
        }
        #expect(error.status == 504)
    }
}
