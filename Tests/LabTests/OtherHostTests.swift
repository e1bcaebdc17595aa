import Foundation
import Testing

/// `publish --host --address`: services of a machine that does not speak for itself, beside programs that others wrote.
@Suite("services of another host", .labSlot)
struct OtherHostTests {
    private static let laser = [
        Built.discoverd, "publish", "Laser", "631", "--type", "_ipp._tcp", "--host", "printer.local",
    ]

    @Test("its name and addresses are answered, without a name for the address; its services go together")
    func printer() async throws {
        let lab = try await Lab.start()
        let laser = try lab.exec(
            "h1", Self.laser + ["--address", "10.77.0.99", "--address", "fd77::99"])
        try await laser.line(within: .seconds(20), "published") { $0 == "published Laser._ipp._tcp.local port 631" }
        // The same host again, by another process.
        let fax = try lab.discoverd(
            "h1", "publish", "Fax", "632", "--type", "_ipp._tcp", "--host", "printer.local", "--address", "10.77.0.99")
        try await fax.line(within: .seconds(20), "published") { $0.hasPrefix("published Fax.") }

        let seen = try await lab.toEnd("h2", ["avahi-browse", "-rtp", "_ipp._tcp"], within: .seconds(20))
        #expect(
            seen.output.contains {
                $0.hasPrefix("=;") && $0.contains(";Laser;") && $0.contains(";printer.local;10.77.0.99;631;")
            },
            "\(seen)")
        let resolved = try await lab.ask("h2", "resolve", "Laser", "_ipp._tcp", "--json")
        #expect(resolved.output.first?.contains(#""host":"printer.local""#) == true, "\(resolved)")
        #expect(
            resolved.output.first?.contains("10.77.0.99") == true && resolved.output.first?.contains("fd77::99") == true
        )
        let name = try await lab.toEnd("h2", ["avahi-resolve", "-4", "-n", "printer.local"], within: .seconds(20))
        #expect(name.output == ["printer.local\t10.77.0.99"], "\(name)")
        let reverse = try await lab.ask("h2", "query", "99.0.77.10.in-addr.arpa", "PTR")
        #expect(reverse.exit == .exited(1), "\(reverse)")

        try await laser.stop()
        let other = try await lab.ask("h2", "resolve", "Fax", "_ipp._tcp")
        #expect(other.exit == .exited(0), "the address stays as long as one of them: \(other)")
        try await fax.stop()
        try await lab.stop()
    }

    @Test("a name that another host has is not taken from it: 73")
    func taken() async throws {
        let lab = try await Lab.start()
        let run = try await lab.ask(
            "h1", "publish", "Laser", "631", "--type", "_ipp._tcp", "--host", "h2.local", "--address", "10.77.0.99")
        #expect(run.exit == .exited(73) && run.output.isEmpty, "\(run)")
        #expect(run.failure?.contains("another host is called h2.local") == true, "\(run)")
        let own = try await lab.toEnd("h1", ["avahi-resolve", "-4", "-n", "h2.local"], within: .seconds(20))
        #expect(own.output == ["h2.local\t10.77.0.2"], "\(own)")
        let same = try await lab.ask(
            "h1", "publish", "Laser", "631", "--type", "_ipp._tcp", "--host", "h1.local", "--address", "10.77.0.99")
        #expect(same.exit == .exited(64) && same.failure?.contains("is this machine") == true, "\(same)")
        // Without an address nothing is claimed: h2 answers for itself.
        let pointing = try lab.discoverd("h1", "publish", "Laser", "631", "--type", "_ipp._tcp", "--host", "h2.local")
        try await pointing.line(within: .seconds(20), "published") { $0.hasPrefix("published Laser.") }
        let found = try await lab.ask("h2", "resolve", "Laser", "_ipp._tcp")
        #expect(found.output.contains { $0.contains("10.77.0.2") }, "\(found)")
        try await pointing.stop()
        try await lab.stop()
    }

    @Test("the daemon keeps it for root, over its own end")
    func daemon() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let made = try await lab.toEnd(
            "h1",
            Self.laser + ["--address", "10.77.0.99", "--detach", "--socket", daemon.socket], within: .seconds(20))
        #expect(made.exit == .exited(0), "\(made)")
        try await daemon.killAndRestart()
        let listed = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        let entry = try #require(try listed.objects("registrations").first)
        #expect(entry["host"] as? String == "printer.local" && entry["warning"] == nil, "\(entry)")
        let found = try await lab.ask("h2", "resolve", "Laser", "_ipp._tcp")
        #expect(found.output.contains { $0.contains("10.77.0.99") }, "\(found)")
        try await daemon.stop()
        try await lab.stop()
    }
}
