import Foundation
import Testing

/// `discoverd import`, into a daemon.
@Suite("import", .labSlot)
struct ImportTests {
    @Test("avahi-daemon's files become the daemon's services; one wrong file, and nothing is printed: 65")
    func imported() async throws {
        let lab = try await Lab.start()
        let file = """
            <service-group><name replace-wildcards="yes">100% %h: "&#252;"</name>
            <service><type>_http._tcp</type><subtype>_printer._sub._http._tcp</subtype><port>8080</port>
            <txt-record>path=/x</txt-record><txt-record>flag</txt-record>
            <txt-record value-format="binary-hex">raw=00ff</txt-record></service></service-group>
            """
        let prepare = """
            mkdir -p /run/in; printf '%s' "$1" >/run/in/web.service
            printf '<service-group>\n<name>&x;</name></service-group>' >/run/in/wrong.service
            """
        #expect(try await lab.toEnd("h1", ["bash", "-c", prepare, "-", file], within: .seconds(10)).exit == .exited(0))
        let wrong = try await lab.ask("h1", "import", "/run/in/web.service", "/run/in/wrong.service", "/run/in/none")
        #expect(wrong.exit == .exited(66) && wrong.output.isEmpty, "\(wrong)")
        #expect(wrong.errors.contains { $0.contains("/run/in/wrong.service:2: the entity") }, "\(wrong)")
        #expect(wrong.errors.contains { $0.contains("/run/in/none: No such file") }, "\(wrong)")
        let run = try await lab.ask("h1", "import", "/run/in/web.service")
        #expect(run.exit == .exited(0) && run.output.first == "services:" && run.errors.isEmpty, "\(run)")

        let daemon = try await LabDaemon.start(on: "h1", of: lab, "log-level: info\n")
        try daemon.configure(run.output.joined(separator: "\n") + "\n", "services.d/avahi.yaml")
        let browser = try lab.discoverd("h2", "browse", "_printer._sub._http._tcp", "-r", "--json")
        let line = try await browser.line(within: .seconds(20), "it") { $0.contains(#""resolved""#) }
        #expect(line.contains(#""name":"100% h1: \"ü\"""#) && line.contains(#""port":8080"#), "\(line)")
        #expect(line.contains(#""txt":{"path":"/x","flag":null,"raw":{"base64":"AP8="}}"#), "\(line)")
        try await browser.stop()
        try await daemon.stop()
        try await lab.stop()
    }
}
