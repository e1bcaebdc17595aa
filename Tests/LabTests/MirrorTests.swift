import Foundation
import Testing

/// Services of one link on another, as programs that others wrote see them there.
@Suite("mirror", .labSlot)
struct MirrorTests {
    private static let rules = """
        mirror:
          - {from: iot0, to: eth0, types: [_http._tcp, _ipp._tcp, _ipps._tcp, _universal._sub._ipp._tcp], label: iot}
          - {from: eth0, to: iot0, types: [_http._tcp], label: home}

        """

    /// h1 is on both links and routes; h2 has eth0, h3 iot0 alone.
    private func start() async throws -> (lab: Lab, daemon: LabDaemon) {
        let lab = try await Lab.start(hosts: 3)
        try await lab.lab("link", "h1", "iot0", "10.78.0.1/24")
        try await lab.lab("link", "h3", "iot0", "10.78.0.3/24")
        try await lab.run("h3", "ip", "link", "set", "eth0", "down")
        try await lab.run("h1", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        try await lab.run("h3", "ip", "route", "add", "default", "via", "10.78.0.1")
        try await lab.run("h2", "ip", "route", "add", "10.78.0.0/24", "via", "10.77.0.1")
        return (lab, try await LabDaemon.start(on: "h1", of: lab, Self.rules))
    }

    @Test("avahi-browse on the other link resolves it, curl reaches it, its end is seen; nothing comes back")
    func comesAndGoes() async throws {
        let (lab, daemon) = try await start()
        let seen = try lab.exec("h2", ["avahi-browse", "-rpk", "_http._tcp"])
        let server = try lab.exec(
            "h3", ["python3", "-u", "-m", "http.server", "8080", "--directory", "/usr/share/doc"])
        try await server.line { $0.hasPrefix("Serving") }
        let web = try await lab.avahiPublish("h3", "-s", "tony", "_http._tcp", "8080", "a=1")
        try await seen.line(.stdout, "tony on eth0") {
            $0 == #"=;eth0;IPv4;tony;_http._tcp;local;h3-iot.local;10.78.0.3;8080;"a=1""#
        }
        // A second service of the same host.
        let second = try await lab.avahiPublish("h3", "-s", "anna", "_http._tcp", "8081")
        try await seen.line(.stdout, "anna on eth0") {
            $0.hasPrefix("=;eth0;IPv4;anna;_http._tcp;local;h3-iot.local;10.78.0.3;8081;")
        }
        second.signal(SIGTERM)
        try await seen.line(.stdout, "the end of anna") { $0.hasPrefix("-;eth0;IPv4;anna;") }
        let host = try await lab.run("h2", "avahi-resolve", "-4", "-n", "h3-iot.local")
        #expect(host == ["h3-iot.local\t10.78.0.3"], "its host stays for the other")
        let answer = try await lab.run("h2", "curl", "-sI", "-m", "5", "http://10.78.0.3:8080/")
        #expect(answer.first?.contains("200") == true, "\(answer)")
        let original = try await lab.run("h3", "avahi-browse", "-rtpk", "_http._tcp")
        #expect(
            Set(original.filter { $0.hasPrefix("=;iot0;IPv4") }.map { $0.split(separator: ";")[6] }) == ["h3.local"])
        let status = try await lab.run("h1", Built.discoverd, "status", "--socket", daemon.socket)
        #expect(status.contains("mirror\tiot0 to eth0: 1 service"), "\(status)")
        web.signal(SIGTERM)
        try await seen.line(.stdout, "the end") { $0.hasPrefix("-;eth0;IPv4;tony;") }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "a printer of the other link: CUPS finds it, by its subtype too, and prints, plain and by TLS; then it is gone",
        .enabled(if: MDNSLibrary.isThere, "libnss-mdns is not there: .ci/deps test"))
    func printer() async throws {
        let (lab, daemon) = try await start()
        try await lab.run("h3", "mkdir", "/run/spool", "/run/keys")
        let printer = try lab.exec(
            "h3",
            [
                "/usr/sbin/ippeveprinter", "-k", "-d", "/run/spool", "-K", "/run/keys", "-f", "text/plain", "-r",
                "_print,_universal", "Office",
            ])
        let seen = try lab.exec("h2", ["avahi-browse", "-pk", "_universal._sub._ipp._tcp"])
        try await seen.line(.stdout, "Office by its subtype") { $0 == "+;eth0;IPv4;Office;_ipp._tcp;local" }
        // With -R ipptool asks again while the page before is printed.
        let print = """
            ippfind -T 3 -N Office _ipp._tcp,_universal; ippfind -T 3 _ipps._tcp
            for scheme in ipp ipps; do
                echo "page by $scheme" >/run/page
                ipptool -tRf /run/page -d filetype=text/plain $scheme://h3-iot.local:8000/ipp/print print-job.test
            done
            """
        let printed = try await MDNSLibrary.asking(lab, "h2", print)
        let uris = printed.output.filter { $0.hasSuffix("//h3-iot.local:8000/ipp/print") }
        #expect(Set(uris) == ["ipp", "ipps"].reduce(into: []) { $0.insert("\($1)://h3-iot.local:8000/ipp/print") })
        #expect(printed.output.count { $0.hasSuffix("[PASS]") } == 2, "\(printed)")
        let pages = try await lab.run("h3", "/bin/bash", "-c", "cat /run/spool/*")
        #expect(pages == ["page by ipp", "page by ipps"], "\(pages)")
        printer.signal(SIGTERM)
        try await seen.line(.stdout, "its end") { $0 == "-;eth0;IPv4;Office;_ipp._tcp;local" }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a name that another host has there is another one; the host that had it keeps it")
    func taken() async throws {
        let (lab, daemon) = try await start()
        let other = try await lab.avahiPublish("h2", "-s", "tony", "_http._tcp", "80")
        let seen = try lab.exec("h2", ["avahi-browse", "-rpk", "_http._tcp"])
        let web = try await lab.avahiPublish("h3", "-s", "tony", "_http._tcp", "8080")
        try await seen.line(.stdout, "the next name") {
            $0.contains(#";tony\032\0352;"#) && $0.contains(";h3-iot.local;10.78.0.3;8080;")
        }
        let list = try await lab.run("h2", "avahi-browse", "-rtpk", "_http._tcp")
        #expect(list.contains { $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h2.local;") }, "\(list)")
        for process in [web, other] { process.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }
}
