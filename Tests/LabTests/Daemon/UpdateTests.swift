import Foundation
import Testing

/// `discoverd update`, beside browsers that others wrote.
@Suite("update", .labSlot)
struct UpdateTests {
    @Test(
        "another TXT record, and another port by publish --detach: browsers see a change and no end; it survives a restart"
    )
    func update() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let socket = ["--socket", daemon.socket]
        func run(_ arguments: String...) async throws -> Lab.Run {
            try await lab.toEnd("h1", [Built.discoverd] + arguments + socket, within: .seconds(15))
        }
        let made = try await run("publish", "shop", "8080", "--type", "_http._tcp", "--txt", "state=old", "--detach")
        #expect(made.exit == .exited(0), "\(made)")
        let browser = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_http._tcp"])
        try await browser.line(within: .seconds(20), "shop") { $0.hasPrefix("+;") && $0.contains(";shop;") }
        let zeroconf = try lab.python("h2", "zc_browse.py", ["_http._tcp.local."])
        try await zeroconf.line(within: .seconds(20), "shop") { $0.contains(#""added""#) && $0.contains("shop") }

        let changed = try await run("update", "shop", "--txt", "state=new", "--txt", "flag")
        #expect(changed.exit == .exited(0) && changed.output.isEmpty, "\(changed)")
        // "state=new" in base64.
        try await zeroconf.line(within: .seconds(20), "the change") {
            $0.contains(#""updated""#) && $0.contains("c3RhdGU9bmV3")
        }
        let seen = try await lab.ask("h2", "query", "shop._http._tcp.local", "TXT")
        #expect(seen.output.first?.contains(#""state=new" "flag""#) == true, "\(seen)")

        // What a provisioning script does: the same once more, with another port and TXT record.
        let again = try await run(
            "publish", "shop", "8081", "--type", "_http._tcp", "--txt", "state=newer", "--on-conflict", "fail",
            "--detach")
        let changes = #"port 8080 -> 8081, TXT "state=new" "flag" -> "state=newer""#
        #expect(again.output == ["published shop._http._tcp.local port 8081 (changed: \(changes))"], "\(again)")
        try await zeroconf.line(within: .seconds(20), "the new port") {
            $0.contains(#""updated""#) && $0.contains("8081")
        }
        let moved = try await lab.ask("h2", "query", "shop._http._tcp.local", "SRV")
        #expect(moved.output.first?.contains("0 0 8081 h1.local.") == true, "\(moved)")
        let resolved = try await lab.run("h2", "avahi-browse", "-prt", "_http._tcp")
        #expect(resolved.contains { $0.contains(";shop;") && $0.contains(";8081;") && $0.contains("state=newer") })
        #expect(!resolved.contains { $0.contains(";8080;") || $0.contains("#2") }, "\(resolved)")
        #expect(!zeroconf.lines().contains { $0.contains(#""removed""#) }, "\(zeroconf.lines())")
        #expect(!browser.lines().contains { $0.hasPrefix("-;") }, "\(browser.lines())")

        let missing = try await run("update", "nosuch", "--txt", "a=b")
        #expect(missing.exit == .exited(1), "\(missing)")
        let nothing = try await run("update", "shop")
        #expect(nothing.exit == .exited(64), "\(nothing)")

        for process in [browser, zeroconf] { process.signal(SIGTERM) }
        try await daemon.killAndRestart()
        _ = try await daemon.curl("/v1/registrations") {
            try $0.objects("registrations").first?["state"] as? String == "established"
        }
        let kept = try await lab.ask("h2", "query", "shop._http._tcp.local", "TXT")
        #expect(kept.output.first?.contains(#""state=newer""#) == true, "\(kept)")
        try await daemon.stop()
        try await lab.stop()
    }
}
