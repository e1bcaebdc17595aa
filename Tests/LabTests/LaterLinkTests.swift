import Foundation
import Testing

/// Links that appear, disappear and are renamed during queries.
@Suite("links that come later", .labSlot)
struct LaterLinkTests {
    @Test("who publishes on a link that comes later goes on, however slow the machine is meanwhile")
    func waits() async throws {
        let lab = try await Lab.start(hosts: 1)
        let publisher = try lab.discoverd(
            "h1", "publish", "tony", "9000", "--interface", "eth1", "--no-daemon", "--json")
        try await publisher.line { $0.contains(#""state":"waiting""#) }
        publisher.signal(SIGSTOP)
        // How long it is slow is the fault. It has two seconds to hear of whoever publishes.
        try await Task.sleep(for: .milliseconds(2_500))
        publisher.signal(SIGCONT)
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await publisher.line(within: .seconds(20), "published") { $0.contains(#""state":"established""#) }
        try await publisher.stop()
        try await lab.stop()
    }

    @Test("a query for one service asks on a link that comes later, and has it", arguments: [false, true])
    func comes(withDaemon: Bool) async throws {
        let lab = try await Lab.start()
        let daemon = withDaemon ? try await LabDaemon.start(on: "h2", of: lab) : nil
        // Only on the link that does not exist yet.
        let publisher = try lab.discoverd("h1", "publish", "tony", "9000", "--interface", "eth1")
        let connect = try lab.discoverd("h2", "connect", "tony", "--probe", "--timeout", "40", "--json")
        let resolve = try lab.discoverd("h2", "resolve", "tony", "--timeout", "40", "--json")
        let wait = try lab.discoverd("h2", "wait", "_witap._tcp", "--timeout", "40", "--json")
        let port = try lab.exec("h1", "socat", "TCP6-LISTEN:9000,ipv6only=0,reuseaddr,fork", "SYSTEM:cat")
        // All of them have asked on the existing links and are waiting.
        try await lab.run("h2", "sleep", "2")
        try await lab.lab("link", "h1", "eth1", "10.78.0.1/24")
        try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        for process in [connect, resolve, wait] {
            #expect(try await process.exit(within: .seconds(30)) == .exited(0), "\(process.lines(.stderr))")
        }
        #expect(try ServiceLine(try #require(resolve.lines().first)).interfaces == ["eth1"])
        // Again, now with the daemon's open queries; then the link goes, and returns with another index.
        for _ in 0..<2 {
            let again = try await lab.ask("h2", "connect", "tony", "--probe", "--timeout", "20", within: .seconds(30))
            #expect(again.exit == .exited(0), "\(again.errors)")
            try await lab.lab("unlink", "h2", "eth1")
            try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        }
        publisher.signal(SIGTERM)
        port.signal(SIGTERM)
        try await daemon?.stop()
        try await lab.stop()
    }

    @Test("a link that is called otherwise: its services are told by the new name, and patterns hold for it")
    func renamed() async throws {
        let lab = try await Lab.start()
        for host in ["h1", "h2"] {
            try await lab.lab("link", host, "eth1", host == "h1" ? "10.78.0.1/24" : "10.78.0.2/24")
        }
        let publisher = try await lab.publish("h1", "tony", "9000")
        let all = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json")
        let wide = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--interface", "wan*")
        let narrow = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--interface", "eth1")
        try await all.json("both") { $0.service?.interfaces.sorted() == ["eth0", "eth1"] }
        try await narrow.json("on eth1") { $0.service?.interfaces == ["eth1"] }
        try await lab.run(
            "h2", "sh", "-c",
            "ip link set eth1 name wan0 2>/dev/null || { ip link set eth1 down; ip link set eth1 name wan0; ip link set wan0 up; }"
        )
        try await wide.json(within: .seconds(15), "on wan0") { $0.service?.interfaces == ["wan0"] }
        try await all.json(within: .seconds(20), "eth0 and wan0") {
            $0.service?.interfaces.sorted() == ["eth0", "wan0"]
        }
        try await narrow.json(within: .seconds(20), "removed") { $0.tells("removed", "tony") }
        #expect(!all.lines().contains { $0.contains(#""removed""#) })
        for browser in [all, wide, narrow] { try await browser.stop() }
        try await publisher.stop()
        try await lab.stop()
    }
}
