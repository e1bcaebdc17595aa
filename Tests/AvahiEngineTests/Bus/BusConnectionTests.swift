import DiscoveryPOSIX
import DiscoverySystem
import Foundation
import Testing

@testable import AvahiEngine

@Suite struct BusConnectionTests {
    @Test("one connection is made with the first socket that takes it: what is made beside it nobody closes")
    func connectsOnce() async throws {
        // Abstract sockets (unix(7)): no files are left.
        let names = ["none", "one", "two"].map { "\0discoverd-\($0)-\(UInt32.random(in: 0 ... .max))" }
        let listeners = try names.dropFirst().map { name in
            try Sockets.listening(at: try #require(SocketAddress(unix: Array(name.utf8))), backlog: 8)
        }
        defer { for listener in listeners { close(listener) } }
        let loop = try #require(EventLoop(named: "test"))
        let isMade = await withCheckedContinuation { continuation in
            loop.post {
                let connection = BusConnection(to: names, on: loop) {}
                connection?.close()
                continuation.resume(returning: connection != nil)
            }
        }
        await withCheckedContinuation { continuation in loop.stop { continuation.resume() } }
        #expect(isMade)
        #expect(listeners.map { accepted($0) } == [1, 0])
    }

    private func accepted(_ listener: Int32) -> Int {
        var count = 0
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return count }
            count += 1
            close(connection)
        }
    }
}
