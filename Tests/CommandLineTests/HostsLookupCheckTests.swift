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
}
