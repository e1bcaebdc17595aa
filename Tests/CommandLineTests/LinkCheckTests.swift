import DNSMessage
import DNSSD
import Glibc
import MulticastEngine
import Testing

@testable import DiscoverdCommands

@Suite("What doctor makes of its links")
struct LinkCheckTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let own = IPAddress.v4(IPv4Address(bits: 0x0A4D_0002))
    private let other = IPAddress.v4(IPv4Address(bits: 0x0A4D_0001))

    private func trial(
        _ arrivals: [(Message.Flags, IPAddress, Arrival.Way)], over family: IPAddress.Family = .ipv4
    ) -> LinkCheck.Trial {
        let types = DomainName(["_services", "_dns-sd", "_udp"], in: .local)
        let answers = types.map { [ResourceRecord($0, .ptr, .ptr($0), ttl: 120)] } ?? []
        var heard = LinkTrial(own: [own], neighbours: [])
        for (flags, sender, way) in arrivals {
            heard.received(
                Message(flags: flags, answers: flags == .response ? answers : []),
                Arrival(from: sender, on: eth0, way, place: sender == own ? .here : .link), at: .zero)
        }
        return LinkCheck.Trial(interface: eth0, family: family, heard: heard)
    }

    private var echo: (Message.Flags, IPAddress, Arrival.Way) { ([], own, .own) }

    private func verdicts(_ trials: LinkCheck.Trial..., avahiRuns: Bool = false) -> [String] {
        LinkCheck.findings(of: trials, avahiRuns: avahiRuns).map { "\($0.verdict.rawValue) \($0.text)" }
    }

    @Test("nothing comes in, not even from here: a firewall of this machine, over either family")
    func closed() {
        let good = trial([echo, (.response, other, .group), (.response, other, .answer)])
        for trials in [[trial([])], [good, trial([], over: .ipv6)], [trial([(.response, other, .answer)])]] {
            let findings = LinkCheck.findings(of: trials, avahiRuns: false)
            #expect(findings.count == 1 && findings[0].verdict == .fail, "\(findings)")
            #expect(findings[0].text.contains("a firewall of this machine drops it"))
        }
        // What others send is heard: this machine's own packets do not count.
        #expect(verdicts(trial([(.response, other, .group), (.response, other, .answer)]))[0].hasPrefix("ok eth0"))
    }

    @Test("what the system refuses: by its firewall, or for another reason")
    func refused() {
        for (code, verdict) in [(EPERM, "fail"), (ENETUNREACH, "warn")] {
            var trial = trial([])
            trial.refusal = code
            #expect(verdicts(trial)[0].hasPrefix("\(verdict) eth0: this machine sends no multicast over IPv4"))
        }
    }

    @Test("no one else is never ok; one family is enough")
    func alone() {
        #expect(verdicts(trial([echo]))[0].hasPrefix("warn eth0: no other host was heard over IPv4"))
        let good = trial([echo, (.response, other, .group), (.response, other, .answer)])
        #expect(verdicts(good, trial([echo], over: .ipv6)) == ["ok eth0: 1 other host over IPv4 heard"])
        #expect(verdicts() == [])
    }

    @Test("hosts that are heard one way alone; a port that is held")
    func oneWay() {
        #expect(
            verdicts(trial([echo, (.response, other, .answer)]))[0].hasPrefix("warn eth0: 1 host answers over IPv4"))
        let answers = trial([echo, (.response, other, .group)])
        #expect(verdicts(answers)[0].contains("no answer to another port than 5353 comes in"))
        // Who only asks may have nothing to answer with.
        #expect(verdicts(trial([echo, ([], other, .group)]))[0].hasPrefix("ok"))
        var deaf = trial([(.response, other, .answer)])
        deaf.canHear = false
        #expect(verdicts(deaf)[0].hasPrefix("warn eth0") && verdicts(deaf)[0].contains("is not shared"))
    }

    @Test("this machine's avahi-daemon is the control: it answers, or is kept off the link")
    func responder() {
        let others: [(Message.Flags, IPAddress, Arrival.Way)] = [
            (.response, other, .group), (.response, other, .answer),
        ]
        #expect(verdicts(trial(others + [echo]), avahiRuns: true)[0].contains("avahi-daemon answers no question"))
        #expect(verdicts(trial(others + [(.response, own, .own)]), avahiRuns: true)[0].hasPrefix("ok"))
    }

    @Test("names: none heard is not ok")
    func names() {
        let none = NameCheck.findings(of: NameSurvey())
        #expect(none.map(\.verdict) == [.skip])
    }
}
