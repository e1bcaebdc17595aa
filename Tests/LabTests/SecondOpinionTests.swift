import Foundation
import Testing

/// A responder that answers late, and an avahi-daemon that has heard it before: it names one address of several.
@Suite("a name that avahi-daemon knows", .labSlot)
struct SecondOpinionTests {
    /// `tony` on h1, with two addresses that lead nowhere; avahi-daemon names the last of them.
    private static let service = #"""
        {"services": [{"instance": "tony", "type": "_witap._tcp", "port": 9000, "host": "mac",
        "addresses": ["10.77.0.1", "10.99.0.7", "10.99.0.8"]}]}
        """#

    @Test("resolve has every address, and connect reaches the good one, though the wire is slower than avahi-daemon")
    func late() async throws {
        let lab = try await Lab.start()
        let listener = try lab.exec("h1", "nc", "-lk4", "9000")
        let responder = try await lab.inject("h1", Self.service, ["-4", "--interval", "60", "--late", "0.4"])
        let heard = try await lab.toEnd(
            "h2", ["/usr/bin/avahi-browse", "-rtp", "_witap._tcp"], within: .seconds(15))
        #expect(heard.output.contains { $0.hasPrefix("=") }, "\(heard.output)")
        let resolved = try await lab.toEnd(
            "h2", [Built.discoverd, "resolve", "tony", "_witap._tcp", "--json", "--no-daemon"],
            within: .seconds(15))
        #expect(
            try resolved.services().first?.endpoints?.map(\.address) == ["10.77.0.1", "10.99.0.7", "10.99.0.8"])
        let connected = try await lab.toEnd(
            "h2", [Built.discoverd, "connect", "tony", "_witap._tcp", "--probe", "--no-daemon"],
            within: .seconds(15))
        #expect(connected.exit == .exited(0), "\(connected.errors)")
        listener.signal(SIGTERM)
        responder.signal(SIGTERM)
        try await lab.stop()
    }
}
