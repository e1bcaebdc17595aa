import Foundation
import Testing

/// `publish --address-record`, beside programs that others wrote.
@Suite("addresses of another host, without a service", .labSlot)
struct AddressRecordTests {
    private static func publish(_ name: String, _ rest: String...) -> [String] {
        [Built.discoverd, "publish", "--address-record", name] + rest
    }

    /// What avahi-resolve(1) says on h2.
    private func resolved(_ name: String, _ family: String, _ lab: Lab) async throws -> [String] {
        try await lab.toEnd("h2", ["avahi-resolve", family, "-n", name], within: .seconds(20)).output
    }

    @Test("seen by another host, without a name for the address; its end has a goodbye; a taken name is 73")
    func record() async throws {
        let lab = try await Lab.start()
        let scanner = try lab.exec(
            "h1", Self.publish("scanner", "10.77.0.98", "--address", "fd77::98", "--no-daemon"))
        try await scanner.line(within: .seconds(20), "published") {
            $0 == "published scanner.local address 10.77.0.98, fd77::98"
        }
        #expect(try await resolved("scanner.local", "-4", lab) == ["scanner.local\t10.77.0.98"])
        #expect(try await resolved("scanner.local", "-6", lab) == ["scanner.local\tfd77::98"])
        let reverse = try await lab.ask("h2", "query", "98.0.77.10.in-addr.arpa", "PTR", "-t", "2")
        #expect(reverse.exit == .exited(1), "\(reverse)")
        let other = try await lab.toEnd("h2", Self.publish("scanner.local", "10.77.0.97"), within: .seconds(20))
        #expect(other.exit == .exited(73) && other.output.isEmpty, "\(other)")
        #expect(other.failure?.contains("another host is called scanner.local") == true, "\(other)")
        try await scanner.stop()
        let gone = try await lab.ask("h2", "query", "scanner.local", "A", "-t", "3")
        #expect(gone.exit == .exited(1), "\(gone)")
        let own = try await lab.toEnd("h1", Self.publish("h1.local", "10.77.0.98"), within: .seconds(20))
        #expect(own.exit != .exited(0) && own.failure?.contains("h1.local is this machine") == true, "\(own)")
        try await lab.stop()
    }

    @Test("the daemon lists it, keeps it over its own end and avahi-daemon's, and withdraws it by the host's name")
    func daemon() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let socket = ["--socket", daemon.socket]
        let made = try await lab.toEnd(
            "h1", Self.publish("scanner.local", "10.77.0.98", "--detach") + socket, within: .seconds(20))
        #expect(made.output == ["published scanner.local address 10.77.0.98"], "\(made)")
        let list = try await lab.toEnd("h1", [Built.discoverd, "ls"] + socket, within: .seconds(20))
        #expect(list.output == ["established\tscanner.local\taddress\t\tdetached\t10.77.0.98\t"], "\(list)")
        try await daemon.killAndRestart()
        let entry = try await established(daemon)
        #expect(entry["host"] as? String == "scanner.local" && entry["type"] == nil && entry["port"] == nil, "\(entry)")
        #expect(entry["addresses"] as? [String] == ["10.77.0.98"], "\(entry)")
        #expect(try await resolved("scanner.local", "-4", lab) == ["scanner.local\t10.77.0.98"])
        try await lab.avahi("h1", "restart")
        let found = try lab.discoverd("h2", "query", "scanner.local", "A", "-t", "20")
        try await found.line(within: .seconds(20), "the address") { $0.contains("10.77.0.98") }
        _ = try await established(daemon)
        let update = try await lab.toEnd(
            "h1", [Built.discoverd, "update", "scanner.local", "--txt", "a=b"] + socket, within: .seconds(20))
        #expect(update.exit != .exited(0) && update.failure?.contains("no TXT record") == true, "\(update)")
        let taken = try await lab.toEnd(
            "h1", Self.publish("h2.local", "10.77.0.98", "--detach") + socket, within: .seconds(20))
        #expect(taken.exit == .exited(73), "\(taken)")
        let more = try await lab.toEnd(
            "h1", Self.publish("scanner.local", "10.77.0.96", "--detach") + socket, within: .seconds(20))
        #expect(more.exit == .exited(0), "\(more)")
        let end = try await lab.toEnd(
            "h1", [Built.discoverd, "unpublish", "scanner"] + socket, within: .seconds(20))
        #expect(end.exit == .exited(0), "\(end)")
        let left = try await lab.toEnd("h1", [Built.discoverd, "ls"] + socket, within: .seconds(20))
        #expect(left.output.isEmpty, "\(left)")
        let gone = try await lab.ask("h2", "query", "scanner.local", "A", "-t", "3")
        #expect(gone.exit == .exited(1), "\(gone)")
        try await daemon.stop()
        try await lab.stop()
    }

    private func established(_ daemon: LabDaemon) async throws -> [String: Any] {
        let listed = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        return try #require(try listed.objects("registrations").first)
    }
}
