#if Commands
import DNSSD
import Foundation
import Testing

@testable import DiscoveryDaemon
@testable import discoverd_daemon

@Suite struct ControlSocketsTests {
    @Test("a start that fails for the TCP socket leaves no control socket behind")
    func failedStart() throws {
        let directory = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/control.sock"
        var configuration = DaemonConfiguration()
        // No address of this machine (RFC 5737).
        configuration.tcpListen = TCPListen(address: try #require(IPAddress("192.0.2.1")), port: try DNSSD.Port(9))
        let manager = ServiceManager(environment: [:], process: 1)
        #expect(throws: (any Error).self) {
            _ = try ControlSockets(explicit: path, configuration, manager)
        }
        #expect(FileManager.default.fileExists(atPath: directory))
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
#endif
