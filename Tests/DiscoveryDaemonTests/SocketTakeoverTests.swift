import DiscoveryDaemon
import Foundation
import Glibc
import Testing

@Suite("taking the control socket over")
struct SocketTakeoverTests {
    @Test("a stale socket is replaced; a socket with a listener is left alone, whoever holds the lock")
    func takeover() throws {
        let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/control.sock"
        let runtime = try RuntimeDirectory(socketPath: path)
        let first = try runtime.listen()
        #expect(throws: RuntimeDirectory.Failure.self) { try runtime.listen() }
        #expect(runtime.hasSocket)
        close(first)
        let second = try runtime.listen()
        #expect(runtime.hasSocket)
        close(second)
        runtime.removeSocket()
    }
}
