import DiscoveryJSON
import Testing

@testable import DiscoverdCommands

@Suite("What doctor makes of a daemon")
struct DoctorWeighingTests {
    private func result(
        finder: String = "available", publisher: String = "available",
        may: String = #"{"publish":null,"handOver":null}"#
    ) throws -> RunningDaemonCheck.Result {
        let status = """
            {"reasons":[],"finder":{"kind":"wire","state":"\(finder)"},
             "publisher":{"kind":"system","state":"\(publisher)","reason":"gone"},"may":\(may)}
            """
        return RunningDaemonCheck.result(of: try JSONReader.read(Array(status.utf8)), at: "it")
    }

    private func lines(_ findings: [DoctorFinding]) -> [String] {
        findings.map { "\($0.verdict.rawValue) \($0.check)" }
    }

    private let backend = [
        DoctorFinding("dbus", .fail, "no"), DoctorFinding("avahi", .fail, "no", advice: "Install it"),
    ]
    private let machine = [
        DoctorFinding("ipv6", .ok, "on"), DoctorFinding("interface", .fail, "none"),
        DoctorFinding("config", .warn, "?"),
    ]

    @Test("without a network, the daemon's finder is what counts: all of this machine is skipped, without advice")
    func container() throws {
        let weighed = DoctorCommand.weigh(backend, machine, beside: try result())
        #expect(lines(weighed.backend) == ["skip dbus", "skip avahi"] && weighed.backend[1].advice == nil)
        #expect(lines(weighed.machine) == ["skip ipv6", "skip interface", "skip config"])
        let away = DoctorCommand.weigh(backend, machine, beside: try result(finder: "lost"))
        #expect(lines(away.backend) == ["fail dbus", "fail avahi"])
        #expect(
            lines(DoctorCommand.weigh(backend, machine, beside: RunningDaemonCheck.Result(findings: [])).machine)[1]
                == "fail interface")
    }

    @Test("with one, what publishes for it counts instead of avahi-daemon, and its links still do")
    func host() throws {
        let links = [DoctorFinding("interface", .ok, "eth0"), DoctorFinding("link", .fail, "eth0")]
        let weighed = DoctorCommand.weigh(backend, links, beside: try result())
        #expect(lines(weighed.backend + weighed.machine) == ["skip dbus", "skip avahi", "ok interface", "fail link"])
        let away = DoctorCommand.weigh(backend, links, beside: try result(publisher: "unavailable"))
        #expect(lines(away.backend) == ["fail dbus", "fail avahi"], "its advice is the cure")
    }

    @Test("rights: those that there are, by name; what is refused is not ok")
    func rights() throws {
        let may =
            #"{"publish":"no","handOver":"no","rules":[{"types":["_http._tcp"],"domains":["local"],"hosts":[]},{"domains":["home.example"],"hosts":[]}]}"#
        let findings = try result(may: may).findings
        #expect(
            lines(findings) == [
                "ok daemon", "ok finder", "ok publisher", "ok daemon", "ok daemon", "skip daemon", "skip daemon",
            ])
        #expect(findings[3].text.hasPrefix("you may publish _http._tcp through it"))
        #expect(findings[4].text.hasPrefix("you may publish every type in home.example through it"))
        #expect(findings[5].text == "you may not publish other services through it: no")
        #expect(lines(try result(publisher: "unknown").findings)[2] == "skip publisher")
    }
}
