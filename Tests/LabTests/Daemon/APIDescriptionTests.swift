import Foundation
import Testing

/// docs/openapi.yaml and the daemon say the same.
@Suite("the API's description", .labSlot)
struct APIDescriptionTests {
    @Test("a validator takes it, and every answer and every line of a stream is as it says", .labLong)
    func described() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab,
            """
            browse: [_witap._tcp]
            services:
              - {name: one, type: _witap._tcp, port: 9000, txt: {a: b}, check: tcp}
            """)
        let publisher = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "9000", "path=/x")
        try await daemon.until("one", "withheld") { $0.state == "withheld" }
        let script = try lab.python("h1", "api.py", "\(Lab.package)docs/openapi.yaml", daemon.socket, "20")
        let exit = try await script.exit(within: .seconds(300))
        #expect(exit == .exited(0), "\((script.lines() + script.lines(.stderr)).joined(separator: "\n"))")
        // Whatever was asked for, the daemon is as well as before.
        let health = try await daemon.curl("/healthz").json()
        #expect((health["reasons"] as? [String])?.isEmpty == true, "\(health)")
        publisher.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }
}
