import Foundation
import Testing

/// What a host's eth0 sees of the network, until `end`.
final class Capture: Sendable {
    struct Counts: Decodable {
        let tcp: Int
        /// Datagrams other than those of mDNS.
        let udp: Int
    }

    private static let path = "/var/lib/capture"
    private let lab: Lab
    private let host: String
    private let process: LabProcess

    init(_ lab: Lab, _ host: String) async throws {
        self.lab = lab
        self.host = host
        process = try lab.python(host, "capture.py", ["eth0", Self.path])
        try await process.line { $0 == "ready" }
    }

    /// Ends it.
    func end() async throws -> Counts {
        process.closeInput()
        #expect(try await process.exit(within: .seconds(30)) == .exited(0), "\(process.lines(.stderr))")
        let line = try #require(process.lines().last)
        return try JSONDecoder().decode(Counts.self, from: Data(line.utf8))
    }

    /// Whether the packets have a text.
    func has(_ text: String) async throws -> Bool {
        let found = try await lab.exec(host, "grep", "-aqF", text, Self.path).exit()
        try #require(found == .exited(0) || found == .exited(1))
        return found == .exited(0)
    }
}

extension Lab {
    /// The key of a host's root, as `discoverd key show` prints it.
    func key(_ host: String) async throws -> String {
        let identity = try await ask(host, "identity")
        return try #require(identity.output.first?.split(separator: "\t").first.map(String.init), "\(identity)")
    }

    /// Makes a key known on a host, under a name such as `@h2`.
    func know(_ host: String, _ name: String, _ key: String) async throws {
        try await run(host, Built.discoverd, "known", "add", name, key)
    }

    /// Gives a host another key.
    func forgetIdentity(_ host: String) async throws {
        try await run(host, "rm", "/var/lib/discoverd-root/identity.pem")
    }
}
