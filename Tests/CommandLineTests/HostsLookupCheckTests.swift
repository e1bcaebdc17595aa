import DNSMessage
import DNSSD
import Testing

@testable import DiscoverdCommands

@Suite("doctor: names below local for other programs")
struct HostsLookupCheckTests {
    @Test(
        arguments: [
            ("hosts: files mdns4_minimal [NOTFOUND=return] dns", nil, "ok two"),
            ("hosts: files mdns4_minimal [NOTFOUND=return] dns mdns4", nil, "ok two"),
            ("hosts: files mdns4_minimal dns", ".local", "ok two"), ("hosts: files mdns4 dns", "# .local", "ok two"),
            ("hosts:\tfiles mdns4 dns", ".local.\n.local", "ok any"), ("hosts: mdns dns", "*  # all", "ok any"),
            ("hosts: files dns # mdns4", ".local", "skip no"), ("passwd: mdns4", ".local", "skip no"),
            ("", nil, "skip no"),
        ])
    func findings(_ nsswitch: String, _ allowed: String?, _ expected: String) {
        let lines = { (text: String) in text.split(separator: "\n").map(String.init) }
        let finding = HostsLookupCheck.of(nsswitch: lines(nsswitch), allowed: allowed.map(lines))
        let depth =
            finding.text.contains("two labels") ? "two" : finding.text.contains("any depth") ? "any" : "no"
        #expect("\(finding.verdict.rawValue) \(depth)" == expected && (finding.advice != nil) == (depth == "two"))
    }

    @Test("who answers nss-mdns")
    func path() {
        func said(_ greeting: String?, isAsked: Bool) -> String {
            let finding = NameServersCheck.ofPath(greeting, isAsked: isAsked)
            return "\(finding.verdict.rawValue) \(finding.text.split(separator: " ")[0])"
        }
        #expect(said("+ discoverd: RESOLVE-HOSTNAME", isAsked: false) == "ok discoverd")
        #expect(said("+ Available commands are:", isAsked: true) == "ok avahi-daemon")
        #expect(said(nil, isAsked: true) == "warn nobody" && said(nil, isAsked: false) == "skip nobody")
    }

    @Test("whose the zone local is: of the servers that resolv.conf names")
    func zone() throws {
        let lines = [
            "# nameserver 192.0.2.9", "search local", "nameserver 192.0.2.1", "nameserver x", "nameserver ::1",
        ]
        let named = NameServersCheck.servers(lines)
        #expect(named.map(\.description) == ["192.0.2.1", "::1"])
        #expect(NameServersCheck.servers([]).map(\.description) == ["127.0.0.1"])
        let local = try DomainName(presentation: "local")
        func start(_ mailbox: String) throws -> ResourceRecord {
            let start = StartOfAuthority(
                primary: local, mailbox: try DomainName(presentation: mailbox), serial: 1, refresh: 1, retry: 1,
                expire: 1, minimum: 1)
            return ResourceRecord(local, .soa, .soa(start), ttl: 5)
        }
        func verdict(_ message: Message) -> String {
            NameServersCheck.ofServers([(named[0], NameServersCheck.owner(of: message))]).verdict.rawValue
        }
        #expect(verdict(Message(authorities: [try start("nobody.invalid")])) == "ok")
        #expect(verdict(Message(authorities: [try start("hostmaster.corp.example")])) == "warn")
        #expect(verdict(Message(answers: [try start("nobody.invalid")])) == "warn")
        #expect(verdict(Message()) == "skip")
    }
}
