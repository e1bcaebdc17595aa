import Foundation
import Testing

@Suite("large TXT records", .labSlot)
struct LargeTextTests {
    /// Options for a record of this many bytes on the wire.
    private func text(_ size: Int) -> [String] {
        var options: [String] = []
        var rest = size
        while rest > 0 {
            let length = min(rest, 250) - 1
            let key = "k\(options.count)="
            options += ["--txt", key + String(repeating: "x", count: length - key.count)]
            rest -= length + 1
        }
        return options
    }

    @Test("what avahi-daemon would establish and never send is refused with the limit; up to the limit others have it")
    func limit() async throws {
        let lab = try await Lab.start()
        // 1500, less 70 for headers, and 24 for large._http._tcp.local.
        let most = 1406
        let offer = { [Built.discoverd, "publish", $0, "80", "--type", "_http._tcp"] + text($1) }
        let published = try lab.exec("h1", offer("large", most))
        try await published.line(within: .seconds(20), "published") { $0.hasPrefix("published large.") }
        let seen = try await lab.ask("h2", "query", "large._http._tcp.local", "TXT")
        #expect(seen.output.count == 1 && seen.output.first?.contains("k10=x") == true, "\(seen)")
        let refused = try await lab.toEnd("h1", offer("wider", most + 1), within: .seconds(20))
        #expect(refused.exit == .exited(64), "\(refused)")
        #expect(refused.errors.contains { $0.contains("at most \(most) on eth0, whose MTU is 1500") }, "\(refused)")
        try await published.stop()
        try await lab.stop()
    }
}
