import DNSMessage
import DNSSD
import Discovery
import Foundation
import MulticastEngine
import Testing

@testable import DiscoverdCommands

@Suite("What evidence means")
struct ExplanationTests {
    private let eth0 = NetworkInterface(index: 2, name: "eth0")

    private func name(_ text: String) throws -> DomainName { try DomainName(presentation: text) }

    private func address(_ number: UInt32) -> IPAddress { .v4(IPv4Address(bits: 0x0A4D_0000 + number)) }

    /// What one host of the link says of a healthy service.
    private func healthy() throws -> [ResourceRecord] {
        let tony = try name("tony._http._tcp.local")
        return [
            ResourceRecord(
                tony, .srv, .srv(priority: 0, weight: 0, port: 9000, target: try name("h1.local")), ttl: 120),
            ResourceRecord(tony, .txt, .txt([0]), ttl: 120),
            ResourceRecord(try name("_http._tcp.local"), .ptr, .ptr(tony), ttl: 120),
            ResourceRecord(try name("h1.local"), .a, .a(0x0A4D_0001), ttl: 120),
        ]
    }

    private func evidence(_ records: [ResourceRecord], from arrival: Arrival? = nil) throws -> Evidence {
        var inquiry = NameInquiry(.service(try ServiceInstance(fullName: "tony._http._tcp.local")))
        inquiry.received(
            Message(flags: .response, answers: records), arrival ?? Arrival(from: address(1), on: eth0, .group),
            at: .zero)
        var evidence = Evidence(inquiry)
        evidence.links = [(interface: eth0, families: [.ipv4])]
        return evidence
    }

    private func codes(_ evidence: Evidence) -> [String] { Explanation(evidence).diagnoses.map(\.code.rawValue) }

    @Test("a host whose messages break off: its fault is named; another's is a note")
    func brokenMessages() throws {
        var evidence = try evidence(try healthy())
        evidence.faults = [address(1): .truncated, address(9): .invalidName]
        let explanation = Explanation(evidence)
        #expect(codes(evidence) == ["broken-message"])
        #expect(explanation.diagnoses[0].message.hasPrefix("10.77.0.1 sends messages that break off: a record is cut"))
        #expect(explanation.notes.contains { $0.hasPrefix("10.77.0.9 ") && $0.contains("255 bytes") })
    }

    @Test("a healthy service: nothing; without any of its records: that")
    func records() throws {
        let all = try healthy()
        #expect(codes(try evidence(all)).isEmpty)
        #expect(codes(try evidence([])) == ["no-answer"], "its host was heard")
        #expect(codes(try evidence([all[2]])) == ["no-service-record"])
        #expect(codes(try evidence([all[0], all[1], all[2]])) == ["no-address"])
        #expect(codes(try evidence([all[0], all[2], all[3]])) == ["no-text-record"])
        #expect(codes(try evidence([all[0], all[1], all[3]])) == ["not-listed"])
        var cut = try evidence([all[0]])
        cut.isCut = true
        #expect(codes(cut) == ["incomplete"], "nothing is said of what was not asked")
        cut = try evidence([])
        cut.isCut = true
        #expect(codes(cut) == ["incomplete"])
        var last = all[0]
        last.ttl = 0
        #expect(codes(try evidence([last])) == ["withdrawn"])
    }

    @Test("hop limits count for the group alone, and a near host makes a far one no fault")
    func arrivals() throws {
        let all = try healthy()
        func arrival(_ way: Arrival.Way = .group, hops: UInt8 = 255, place: Arrival.Place = .link) -> Arrival {
            Arrival(from: address(1), on: eth0, way, hops: hops, place: place)
        }
        #expect(codes(try evidence(all, from: arrival(hops: 64))) == ["hop-limit"])
        #expect(codes(try evidence(all, from: arrival(place: .elsewhere))) == ["off-link"])
        #expect(codes(try evidence(all, from: arrival(.own, hops: 64, place: .elsewhere))).isEmpty)
        var both = try evidence(all, from: arrival(hops: 64, place: .elsewhere))
        both.inquiry.received(
            Message(flags: .response, answers: all), Arrival(from: address(2), on: eth0, .group), at: .zero)
        #expect(codes(both).isEmpty)
    }

    @Test("a host that answers the asker alone is named, and is otherwise as good as any")
    func lone() throws {
        #expect(
            codes(try evidence(try healthy(), from: Arrival(from: address(1), on: eth0, .answer)))
                == ["answers-asker-alone"])
    }

    @Test("two hosts, with what each says; what is hostile is escaped")
    func disputes() throws {
        var evidence = try evidence(try healthy())
        let other = ResourceRecord(
            try name("tony._http._tcp.local"), .srv,
            .srv(priority: 0, weight: 0, port: 1, target: try name(#"e\027[2Jvil.local"#)), ttl: 120)
        evidence.inquiry.received(
            Message(flags: .response, answers: [other]), Arrival(from: address(3), on: eth0, .group), at: .zero)
        let diagnoses = Explanation(evidence).diagnoses
        #expect(diagnoses.map(\.code) == [.twoHosts, .noAddress])
        #expect(diagnoses.allSatisfy { !$0.message.utf8.contains(0x1B) && $0.message.contains(#"e\027[2Jvil"#) })
    }

    @Test("no link, no multicast, a port that is held")
    func links() throws {
        var evidence = try evidence(try healthy())
        evidence.deaf = [eth0]
        evidence.holders = ["chrome (pid 7)"]
        #expect(codes(evidence) == ["port-taken"])
        evidence.deaf = []
        evidence.refusals = [eth0: 1]
        #expect(codes(evidence) == ["not-sent"])
        evidence.links.append((interface: NetworkInterface(index: 3, name: "wlan0"), families: [.ipv4]))
        #expect(codes(evidence).isEmpty)
        evidence.links = []
        #expect(codes(evidence) == ["no-interface"])
    }

    @Test("avahi-daemon: the same, another port, another interface, what no one confirms")
    func cache() throws {
        var (here, gone) = (try evidence(try healthy()), try evidence([]))
        let host = try #require(HostName(observed: "H1.local"))
        func cached(_ port: UInt16, on interface: NetworkInterface) -> Set<Evidence.CachedService> {
            [Evidence.CachedService(interface: interface, host: host, port: Port(rawValue: port))]
        }
        here.cached = cached(9000, on: eth0)
        #expect(codes(here).isEmpty)
        here.cached = cached(1, on: NetworkInterface(index: 1, name: "lo"))
        #expect(codes(here).isEmpty)
        here.cached = cached(1, on: eth0)
        #expect(codes(here) == ["avahi-differs"])
        gone.cached = cached(9000, on: eth0)
        #expect(codes(gone) == ["no-answer", "avahi-differs"])
        gone.direct = [address(1)]
        #expect(codes(gone) == ["multicast-not-delivered"])
    }

    @Test("connections: one that succeeds is enough; refused and dropped are told apart")
    func connections() throws {
        var evidence = try evidence(try healthy())
        let endpoint = try #require(evidence.endpoints.first)
        #expect(evidence.endpoints.count == 1)
        func attempt(_ outcome: EstablishmentReport.Outcome) -> Evidence.Attempt {
            Evidence.Attempt(endpoint: endpoint, outcome: outcome, reason: nil, milliseconds: 1)
        }
        for (outcomes, code) in [
            ([EstablishmentReport.Outcome.refused, .connected], []), ([.refused, .timeout], ["connection-refused"]),
            ([.timeout, .timeout], ["connection-timeout"]),
        ] {
            evidence.attempts = outcomes.map(attempt)
            #expect(codes(evidence) == code)
        }
        var unreachable = attempt(.refused)
        unreachable.hasNoRoute = true
        for (others, code) in [
            ([], ["no-route"]), ([attempt(.timeout)], ["connection-timeout"]),
            ([attempt(.refused)], ["connection-refused"]), ([attempt(.connected)], []),
        ] {
            evidence.attempts = [unreachable] + others
            #expect(codes(evidence) == code)
        }
        evidence.attempts = []
        let refusal = AddressPolicy().refusal(
            of: Endpoint(address: address(1), port: endpoint.port, interface: nil), isOwn: false,
            local: LocalAddresses(entries: []), routes: SystemRoutes())
        evidence.destinations = [Evidence.Destination(endpoint: endpoint, refusal: refusal)]
        #expect(codes(evidence) == ["address-refused"])
        evidence.destinations.append(Evidence.Destination(endpoint: endpoint, refusal: nil))
        #expect(codes(evidence).isEmpty)
    }

    @Test("stopped by a signal: nothing is said of what is missing")
    func interrupted() throws {
        for records in [[], Array(try healthy().prefix(1))] {
            var evidence = try evidence(records)
            evidence.isInterrupted = true
            evidence.isCut = true
            #expect(codes(evidence) == ["interrupted"])
        }
    }

    @Test("this machine's own name without a responder; a word that no one has")
    func unknown() throws {
        var evidence = Evidence(NameInquiry(.host(try name("h2.local"))))
        evidence.links = [(interface: eth0, families: [.ipv4])]
        evidence.isOwnHost = true
        #expect(codes(evidence) == ["no-responder"])
        evidence.isCut = true
        #expect(codes(evidence) == ["incomplete"])
        evidence = try self.evidence([])
        #expect(Explanation(evidence).notes.isEmpty)
        evidence.hasResponder = false
        #expect(codes(evidence) == ["no-answer"])
        #expect(
            Explanation(evidence).notes == [
                "no mDNS responder runs on this machine: nothing answers for what it publishes itself"
            ])
        var word = try self.evidence([])
        word.unknownWord = "to\u{1B}ny"
        let diagnosis = try #require(Explanation(word).diagnoses.first)
        #expect(diagnosis.code == .noAnswer && diagnosis.message.contains("a service, type or host named"))
        #expect(!diagnosis.message.contains("_http._tcp") && !diagnosis.message.utf8.contains(0x1B))
    }

    @Test("what may be meant")
    func suggestions() throws {
        var evidence = Evidence(NameInquiry(.service(try ServiceInstance(fullName: "tony._http._tcp.local"))))
        evidence.links = [(interface: eth0, families: [.ipv4])]
        #expect(codes(evidence) == ["silent-link"])
        func census(_ service: String) throws -> NameCensus {
            let instance = try ServiceInstance(fullName: service)
            var census = NameCensus()
            let listing = try #require(DomainName(listing: instance.type, in: .local))
            let pointer = ResourceRecord(listing, .ptr, .ptr(try #require(DomainName(instance))), ttl: 120)
            census.received(
                Message(flags: .response, answers: [pointer]), Arrival(from: address(1), on: eth0, .group), at: .zero)
            return census
        }
        for (service, code) in [
            ("tony._ipp._tcp.local", "other-type"), ("tonny._http._tcp.local", "similar-name"),
            ("printer._http._tcp.local", "no-answer"),
        ] {
            evidence.census = try census(service)
            #expect(codes(evidence) == [code])
        }
    }

    @Test("each code is in docs/contract/json.md and in the manual", arguments: Diagnosis.Code.allCases)
    func codes(_ code: Diagnosis.Code) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let contract = try String(contentsOf: root.appending(path: "docs/contract/json.md"), encoding: .utf8)
        #expect(contract.split(separator: "\n").contains { $0.hasPrefix("| `") && $0.contains("`\(code.rawValue)`") })
        let manual = try String(contentsOf: root.appending(path: "docs/man/text/doctor"), encoding: .utf8)
        let terms = manual.split(separator: "\n").filter { $0.hasPrefix("* ") }.flatMap {
            $0.split { $0 == " " || $0 == "," }
        }
        #expect(terms.contains { $0 == code.rawValue })
    }

    @Test("what the command line names")
    func targets() throws {
        func subject(_ text: String, _ type: String? = nil) throws -> InquirySubject? {
            let type = try type.map { try ServiceType(named: $0) }
            if case .subject(let subject) = try ExplainTarget(text, type: type) { return subject }
            return nil
        }
        let tony = InquirySubject.service(try ServiceInstance(fullName: "tony._http._tcp.local"))
        #expect(try subject("tony._http._tcp.local") == tony && subject("tony", "_http._tcp") == tony)
        #expect(try subject("_http._tcp.local.") == .type(try ServiceType("_http._tcp")))
        #expect(try subject("printer.local") == .host(try name("printer.local")))
        #expect(try subject("tony") == nil && subject("Front.Door") == nil)
        #expect(try subject("node-7") == nil && subject("v1.2") == nil && subject("Dr. Who") == nil)
        #expect(try subject("printer.example.org", "_ipp._tcp") != nil)
        for wrong in [
            "10.77.0.1", "fe80::1%eth0", "::1", "www.example.org", "example.org.", "1.0.77.10.in-addr.arpa", "",
            "tony._http._tcp.example.org", "_http._nonsense", "_services._dns-sd._udp.local", "_services._dns-sd._udp",
            String(repeating: "x", count: 64),
        ] {
            #expect(throws: (any Error).self) { try ExplainTarget(wrong, type: nil) }
        }
    }

    @Test("a capture: a section, each interface once, packets of four bytes' length; full is full")
    func capture() throws {
        var capture = PacketCapture()
        #expect(capture.bytes.count == 28)
        func packet(_ count: Int, on interface: NetworkInterface) -> LinkInquiry.Packet {
            LinkInquiry.Packet(
                bytes: [UInt8](repeating: 7, count: count), interface: interface, source: address(1),
                destination: address(2), sourcePort: 5353, destinationPort: 5353, hops: 255, .received)
        }
        capture.add(packet(5, on: eth0), at: 1)
        let (interface, head) = (12 + 8 + 4 + 4 + 4, 12 + 20 + 8 + 4)
        #expect(capture.bytes.count == 28 + interface + head + 52)
        capture.add(packet(6, on: eth0), at: 2)
        #expect(capture.bytes.count == 28 + interface + 2 * (head + 52))
        // What libpcap asks of a second interface: the link type of the first, by a number that it does not change, and its snap length.
        let second = capture.bytes.count
        capture.add(packet(5, on: NetworkInterface(index: 3, name: "wlan0")), at: 3)
        for block in [28, second] { #expect(capture.bytes[block + 8..<block + 16] == [113, 0, 0, 0, 255, 255, 0, 0]) }
        for time in 0..<2000 { capture.add(packet(9000, on: eth0), at: UInt64(time)) }
        #expect(capture.bytes.count < 17 << 20 && capture.bytes.count % 4 == 0)
    }

    @Test("doctor: a configuration by which avahi-daemon shares no port takes something away")
    func unsharedPort() {
        for (value, isTaken) in [("yes", true), ("True", true), ("no", false), ("", false)] {
            #expect(warnings("disallow-other-stacks=\(value)").isEmpty != isTaken)
        }
        #expect(warnings("").isEmpty)
    }

    /// What is wrong with a configuration of avahi-daemon: each finding up to its colon.
    private func warnings(_ text: String) -> [String] {
        AvahiConfigurationCheck.findings(ResponderSettings(text)).filter { $0.verdict != .ok }
            .map { $0.text.prefix { $0 != ":" }.description }
    }

    @Test("doctor: settings are on and off as avahi-daemon takes them, by their first letter; other values stay whole")
    func settingsOfAvahi() {
        for value in ["yes", "true", "T", "1"] {
            #expect(warnings("[publish]\n disable-publishing = \(value)\n") == ["disable-publishing=\(value)"])
            #expect(warnings("use-ipv4=\(value)").isEmpty)
        }
        for value in ["no", "0", "false"] {
            #expect(warnings("Use-IPv6=\(value)\r\n") == ["use-ipv6=\(value)"])
            #expect(warnings("disable-user-service-publishing=\(value)").isEmpty)
        }
        #expect(warnings("allow-interfaces= eth0, wlan0 ") == ["allow-interfaces=eth0, wlan0"])
        #expect(warnings("#use-ipv4=no\n; use-ipv6=no\ncache-entries-max=100") == ["cache-entries-max is 100"])
    }

    @Test("neighbours of proc_net_arp: those with a hardware address")
    func neighbours() {
        let lines = [
            "IP address       HW type     Flags       HW address            Mask     Device",
            "10.77.0.1        0x1         0x2         aa:bb:cc:dd:ee:ff     *        eth0",
            "10.77.0.9        0x1         0x0         00:00:00:00:00:00     *        eth0", "nonsense", "",
        ]
        #expect(Neighbours.parse(lines) == [address(1)])
    }
}
