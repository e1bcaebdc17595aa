import Foundation
import Testing

/// What `browse` and `resolve` say of keys, hashed names, and the hint in TXT records.
@Suite("Names and keys together", .labSlot)
struct KeyStateInLabTests {
    private static let tony = "tony._witap._tcp.local"
    private static let other = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
    private static let state = "/var/lib/discoverd-root"

    private struct WithIdentity: Decodable {
        struct Identity: Decodable { var state: String }
        struct Service: Decodable { var identity: Identity? }
        var service: Service?
        var identity: Identity?
    }

    private func listen(_ lab: Lab) async throws -> (LabProcess, key: String) {
        let server = try lab.discoverd(
            "h1", "listen", "tony", "--type", "_witap._tcp", "--tls", "--trust-first", "--", "cat")
        try await server.line(.stdout, "published") { $0.contains("published ") }
        let key = try await lab.ask("h1", "identity").output.first?.split(separator: "\t").first.map(String.init)
        return (server, try #require(key))
    }

    private func say(_ lab: Lab) async throws -> Lab.Run {
        try await lab.bash("h2", "echo hello | setsid -w $discoverd connect tony --tls")
    }

    /// What `resolve`, and `browse -t`, say.
    private func states(_ lab: Lab, _ options: String = "") async throws -> [String?] {
        let run = try await lab.bash(
            "h2",
            "$discoverd resolve tony _witap._tcp --json \(options) && $discoverd browse witap -t --json \(options)")
        #expect(run.exit == .exited(0), "\(run)")
        let read = try run.output.map { try JSONDecoder().decode(WithIdentity.self, from: Data($0.utf8)) }
        return [read.first?.identity?.state, read.lazy.compactMap(\.service).first?.identity?.state]
    }

    @Test("nothing before the first connection; then known, unknown, changed; through a daemon, too")
    func states() async throws {
        let lab = try await Lab.start()
        let (server, key) = try await listen(lab)
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, key)
        #expect(try await states(lab) == [nil, nil])
        #expect(try await say(lab).output == ["hello"])
        #expect(try await states(lab) == ["known", "known"])
        try await lab.run("h2", Built.discoverd, "known", "forget", Self.tony)
        #expect(try await states(lab) == ["unknown", "unknown"])
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, Self.other)
        #expect(try await states(lab) == ["changed", "changed"])
        let card = try await lab.ask("h2", "resolve", "tony", "_witap._tcp")
        #expect(card.output.contains("key\tchanged"), "\(card)")
        let daemon = try await LabDaemon.start(on: "h2", of: lab)
        #expect(try await states(lab) == ["changed", "changed"])
        _ = daemon
        try await server.stop()
        try await lab.stop()
    }

    @Test(
        "a service that announces another key than the known one is warned of before anything is said to it", .onlyInAll
    )
    func hint() async throws {
        let lab = try await Lab.start()
        let (server, key) = try await listen(lab)
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, Self.other)
        let run = try await say(lab)
        #expect(run.exit == .exited(77) && run.output.isEmpty, "\(run)")
        let warning =
            "discoverd: \(Self.tony) announces another key than the one that is known, \(key): "
            + "it will be refused if it has it"
        #expect(run.errors.first == warning, "\(run)")
        #expect(try await states(lab) == ["changed", "changed"])
        try await server.stop()
        try await lab.stop()
    }

    @Test("hashed names: the files have none, and all commands find them", .onlyInAll)
    func hashed() async throws {
        let lab = try await Lab.start()
        let (server, key) = try await listen(lab)
        try await lab.run("h2", Built.discoverd, "known", "add", Self.tony, key)
        #expect(try await say(lab).output == ["hello"])
        try await lab.run("h2", Built.discoverd, "known", "hash")
        let files = "\(Self.state)/known_peers \(Self.state)/last_keys"
        #expect(try await lab.bash("h2", "grep -i tony \(files)").exit == .exited(1))
        let list = try await lab.ask("h2", "known")
        #expect(list.output.count == 1 && list.output.first?.hasPrefix("|1|") == true, "\(list)")
        #expect(try await say(lab).output == ["hello"])
        #expect(try await states(lab) == ["known", "known"])
        let second = try await lab.ask("h2", "known", "add", Self.tony, Self.other)
        #expect(second.exit == .exited(77), "\(second)")
        try await lab.run("h2", Built.discoverd, "known", "add", "@anna", Self.other)
        #expect(try await lab.bash("h2", "grep -c '^@|1|' \(Self.state)/known_peers").output == ["1"])
        #expect(try await lab.bash("h2", "grep -i anna \(files)").exit == .exited(1))
        try await lab.run("h2", Built.discoverd, "known", "forget", Self.tony)
        #expect(try await lab.ask("h2", "known").output.count == 1)
        let unknown = try await say(lab)
        #expect(unknown.exit == .exited(77), "\(unknown)")
        #expect(try await states(lab) == ["unknown", "unknown"])
        try await server.stop()
        try await lab.stop()
    }
}
