import Foundation
import Testing

/// JSON, version 2, and the schemas in docs/, judged by a stock validator.
@Suite("schemas", .labSlot)
struct SchemaTests {
    @Test("every command's lines are as docs/json-v2.schema.json says, and a failure is the last of them", .labLong)
    func lines() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_witap._tcp]")
        let publisher = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "9000", "path=/x", "flag")
        let listener = try lab.exec("h2", [Built.discoverd, "listen", "live", "--max", "8", "--", "true"])
        let waiting = try await lab.ask("h1", "wait", "_witap._tcp", "--count", "2")
        #expect(waiting.exit == .exited(0), "\(waiting)")
        let schema = "\(Lab.package)docs/json-v2.schema.json"
        try await Self.passes(try lab.python("h1", "json2.py", schema, Built.discoverd))
        publisher.signal(SIGTERM)
        try await listener.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("docs/discoverd.schema.json and the parser know the same keys, and judge the same files alike", .labLong)
    func configuration() async throws {
        let lab = try await Lab.start()
        try await Self.passes(try lab.python("h1", "schema.py", "\(Lab.package)docs", Built.discoverd))
        try await lab.stop()
    }

    private static func passes(_ script: LabProcess) async throws {
        let exit = try await script.exit(within: .seconds(180))
        #expect(exit == .exited(0), "\((script.lines() + script.lines(.stderr)).joined(separator: "\n"))")
    }
}
