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
    private func start(_ use: String = "auto", without avahi: String...) async throws -> (
        lab: Lab, daemon: LabDaemon
    ) {
        let lab = try await Lab.start(["--hosts", "3"] + avahi.flatMap { ["--no-avahi", $0] }, environment: [:])
        try await lab.lab("link", "h1", "iot0", "10.78.0.1/24")
        try await lab.lab("link", "h3", "iot0", "10.78.0.3/24")
        try await lab.run("h3", "ip", "link", "set", "eth0", "down")
        try await lab.run("h1", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        try await lab.run("h3", "ip", "route", "add", "default", "via", "10.78.0.1")
        try await lab.run("h2", "ip", "route", "add", "10.78.0.0/24", "via", "10.77.0.1")
        let daemon = try LabDaemon(lab)
        try daemon.configure(Self.rules)
        try await daemon.start("--avahi", use)
        return (lab, daemon)
    }

    /// Waits until the mirrors' lines end so.
    private func says(_ daemon: LabDaemon, _ ends: String...) async throws {
        try await eventually(within: .seconds(20), "status does not say \(ends)") {
            let lines = try await daemon.ask("status").output.filter { $0.hasPrefix("mirror\t") }
            return zip(lines, ends).allSatisfy { $0.hasSuffix($1) } && lines.count == ends.count ? true : nil
        }
    }

    /// What avahi-browse finds anew on a host, over IPv4: name, host and address.
    private func found(_ lab: Lab, _ host: String, on link: String) async throws -> Set<[String]> {
        let lines = try await lab.run(host, "avahi-browse", "-rtpk", "_http._tcp")
        let parts = lines.map { $0.split(separator: ";", omittingEmptySubsequences: false).map(String.init) }
        return Set(parts.filter { $0.prefix(3) == ["=", link, "IPv4"] }.map { [$0[3], $0[6], $0[7]] })
    }

    @Test(
        "an original that comes to the other link has its name there: avahi-daemon sees no conflict, and nobody an end")
    func original() async throws {
        let (lab, daemon) = try await start("never", without: "h1")
        let seen = try lab.exec("h2", ["avahi-browse", "-pk", "_http._tcp"])
        let web = try await lab.avahiPublish("h3", "-s", "tony", "_http._tcp", "8080")
        try await seen.line(.stdout, "tony") { $0.hasPrefix("+;eth0;IPv4;tony;") }
        #expect(try await found(lab, "h2", on: "eth0") == [["tony", "h3-iot.local", "10.78.0.3"]])
        // A host that looks for its own type asks before it probes: an answer with the mirrored service is a conflict to avahi-daemon.
        let own = try lab.exec("h3", ["avahi-browse", "-rpk", "_http._tcp"])
        try await own.line(.stdout, "tony") { $0.hasPrefix("+;iot0;IPv4;tony;") }
        try await lab.run("h3", "ip", "link", "set", "eth0", "up")
        let there: Set = [["tony", "h3.local", "10.77.0.3"]]
        try await eventually(within: .seconds(20), "the original is not there") {
            try await found(lab, "h2", on: "eth0") == there ? true : nil
        }
        try await says(daemon, "0 services; left out: 1 original", "0 services; left out: 1 original")
        // Which of its host's addresses avahi-daemon gives for its own service is by chance.
        #expect(Set(try await found(lab, "h3", on: "iot0").map { Array($0.prefix(2)) }) == [["tony", "h3.local"]])
        #expect(
            !seen.lines().contains { $0.hasPrefix("-") || $0.contains("#2") || $0.contains("0352") }, "\(seen.lines())")
        #expect(!web.lines(.stderr).contains { $0.contains("collision") }, "\(web.lines(.stderr))")
        web.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test(
        "one that is there from the beginning is not mirrored, whoever publishes; once it leaves, it is",
        arguments: ["never", "always"])
    func originalThere(use: String) async throws {
        let (lab, daemon) = try await start(use, without: "h3")
        try await lab.run("h3", "ip", "link", "set", "eth0", "up")
        try await daemon.stop()
        let originals = try ["iot0", "eth0"].map {
            try lab.discoverd(
                "h3", "publish", "tony", "8080", "--type", "_http._tcp", "--interface", $0, "--avahi", "never")
        }
        for original in originals { try await original.line(.stdout, "tony") { $0.contains("tony") } }
        let seen = try lab.exec("h2", ["avahi-browse", "-rpk", "_http._tcp"])
        try await seen.line(.stdout, "the original") { $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h3.local;") }
        try await daemon.start("--avahi", use)
        try await says(daemon, "0 services; left out: 1 original", "0 services; left out: 1 original")
        originals[1].signal(SIGTERM)
        try await seen.line(.stdout, "the mirrored one") {
            $0.hasPrefix("=;eth0;IPv4;tony;") && $0.contains(";h3-iot.local;10.78.0.3;")
        }
        #expect(!seen.lines().contains { $0.contains("0352") }, "\(seen.lines())")
        originals[0].signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
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

    @Test("a host of the other link is no alias of this machine")
    func alias() async throws {
        let (lab, daemon) = try await start()
        let alias = try lab.discoverd(
            "h1", "publish", "--alias", "nas-iot", "--interface", "eth0", "--socket", daemon.socket)
        try await alias.line(.stdout, "the alias") { $0.contains("nas-iot.local") }
        let host = try lab.exec("h3", ["avahi-publish", "-a", "-R", "nas.local", "10.78.0.3"])
        try await host.line(.stderr, "established") { $0.contains("Established") }
        let web = try await lab.avahiPublish("h3", "-H", "nas.local", "forged", "_http._tcp", "8080")
        let log = try daemon.process
        try await log.line(.stderr, "the refusal") {
            $0.contains("forged is not mirrored to eth0: another host is called nas-iot.local")
        }
        let addresses = try await lab.run("h2", "avahi-resolve", "-4", "-n", "nas-iot.local")
        #expect(addresses == ["nas-iot.local\t10.77.0.1"])
        for process in [web, host, alias] { process.signal(SIGTERM) }
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
