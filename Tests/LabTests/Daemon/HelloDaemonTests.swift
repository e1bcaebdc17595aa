import Foundation
import Testing

/// The example of `DiscoveryDaemonClient`, as a program against a real daemon.
@Suite("A program hands a service to the daemon", .labSlot)
struct HelloDaemonTests {
    private let program = Built.program("HelloDaemon")

    @Test("it is found, published, seen with its second record, and withdrawn")
    func example() async throws {
        let lab = try await Lab.start()
        let none = try await lab.toEnd("h1", [program], within: .seconds(15))
        #expect(none.exit == .exited(0) && none.output == ["no daemon answers"], "\(none)")
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        // Another host sees it while it is there.
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json")
        try await browser.line(.stdout, "it listens") { $0.contains(#""event":"settled""#) }
        let hello = try await lab.toEnd("h1", [program], within: .seconds(30))
        #expect(hello.exit == .exited(0), "\(hello)")
        #expect(hello.output.first?.hasPrefix("discoverd ") == true && hello.output.first?.hasSuffix("system") == true)
        #expect(hello.output.contains { $0.hasPrefix("hello._witap._tcp.local: established") }, "\(hello)")
        #expect(hello.output.suffix(2) == [#"hello "state=seen""#, "left: 0"], "\(hello)")
        try await browser.line(.stdout, "it was there") {
            $0.contains(#""event":"added""#) && $0.contains(#""name":"hello""#)
        }
        try await browser.line(.stdout, "it is gone") {
            $0.contains(#""event":"removed""#) && $0.contains(#""name":"hello""#)
        }
        try await browser.stop()
        try await daemon.stop()
        try await lab.stop()
    }
}
