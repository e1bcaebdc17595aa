import DNSSD
import Discovery
import Testing

@testable import DiscoveryDaemon

/// What a gateway does about a link that is honest, flaps, or lies.
@Suite struct ExportTableTests {
    private static let eth0 = NetworkInterface(index: 2, name: "eth0")
    private let start = Duration.seconds(100)

    private func admission(names: [String] = [], to links: MirrorLinks? = nil) throws -> ExportAdmission {
        let destination = try links.map { .links($0) } ?? ExportRule.Destination.zone(Domain("link1.example.org"))
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["eth0"])), to: destination, types: [try ServiceType("_http._tcp")],
            names: try NamePatterns(names))
        let own = LocalAddresses.Entry(interface: Self.eth0, address: try address("10.1.0.1"), prefixLength: 24)
        return ExportAdmission(rule, local: LocalAddresses(entries: [own])) { endpoint, _ in
            endpoint.address != .v4(IPv4Address(bits: 0x0A01_0063))
        }
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    private func service(
        _ name: String, host: String = "h1.local", addresses: [String] = ["10.1.0.7"], port: Int = 80,
        txt: TXTRecord = TXTRecord(), interface: NetworkInterface = eth0
    ) throws -> DiscoveredService {
        let port = try Port(port)
        let endpoints = try addresses.map {
            Endpoint(address: try address($0), port: port, interface: interface)
        }
        return DiscoveredService(
            instance: ServiceInstance(
                name: ServiceName(observed: name), type: try ServiceType("_http._tcp"), domain: .local),
            interfaces: [interface], state: .resolved, host: try HostName(host), port: port, txt: txt,
            endpoints: endpoints)
    }

    @Test func exportedAfterFiveSecondsWithdrawnAfterSixty() throws {
        var table = ExportTable(at: start)
        let web = try service("web")
        table.saw(web, try admission(), at: start)
        #expect(table.next == start + .seconds(5))
        #expect(table.due(at: start + .seconds(4)).isEmpty)
        let actions = table.due(at: start + .seconds(5))
        guard case .publish(web.instance, let export)? = actions.first, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
        let zone = try Domain("link1.example.org")
        #expect(export.service.domain == zone)
        let wanted = try address("10.1.0.7")
        #expect(export.addresses == [wanted])
        table.lost(web.instance, at: start + .seconds(20))
        #expect(table.due(at: start + .seconds(79)).isEmpty)
        #expect(table.due(at: start + .seconds(80)) == [.withdraw(web.instance)])
        #expect(table.next == nil && table.published == 0)
    }

    @Test(arguments: [
        ("gw", "gw-3"), ("gw.hosts", "gw-3.hosts"),
        (String(repeating: "a", count: 60) + ".hosts", String(repeating: "a", count: 40) + "-3.hosts"),
    ])
    func aHostsNumberIsAtItsFirstLabel(prefix: String, label: String) {
        #expect(HostNumbers.label(3, prefix) == label)
    }

    @Test func aFlapCostsNothing() throws {
        var table = ExportTable(at: start)
        let web = try service("web")
        let admission = try admission()
        for second in 0..<300 {
            let now = start + .seconds(second)
            if second % 4 == 3 { table.lost(web.instance, at: now) } else { table.saw(web, admission, at: now) }
            #expect(table.due(at: now).isEmpty, "never there for 5 s")
        }
        table.saw(web, admission, at: start + .seconds(300))
        #expect(table.due(at: start + .seconds(305)).count == 1)
        for second in 306..<900 {
            let now = start + .seconds(second)
            if second % 50 < 40 { table.lost(web.instance, at: now) } else { table.saw(web, admission, at: now) }
            #expect(table.due(at: now).isEmpty, "never gone for 60 s")
        }
    }

    @Test func changesWaitTenSeconds() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        table.saw(try service("web"), admission, at: start)
        _ = table.due(at: start + .seconds(5))
        var changes = 0
        for second in 6..<106 {
            let now = start + .seconds(second)
            table.saw(try service("web", port: 1000 + second), admission, at: now)
            changes += table.due(at: now).count
        }
        #expect(changes == 10)
    }

    @Test func whatIsNotOfTheLinkIsRefused() throws {
        var table = ExportTable(at: start)
        let admission = try admission(names: ["*", "!secret*"])
        var long = TXTRecord()
        for number in 0..<7 { try long.append(key: "k\(number)", value: Array(repeating: 0x61, count: 200)) }
        let eth1 = NetworkInterface(index: 3, name: "eth1")
        let refused: [(DiscoveredService, ExportRefusal)] = [
            (try service("secret one"), .name),
            (try service("a\nb"), .unfit),
            (try service("*"), .unfit),
            (try service("far host", host: "www.example.org"), .foreignHost),
            (try service("far", addresses: ["8.8.8.8", "10.1.1.7"]), .address),
            (try service("link-local", addresses: ["169.254.7.7"]), .address),
            (try service("loopback", addresses: ["127.0.0.1"]), .address),
            (try service("by policy", addresses: ["10.1.0.99"]), .address),
            (try service("other link", interface: eth1), .address),
            (try service("long", txt: long), .text),
        ]
        for (service, _) in refused { table.saw(service, admission, at: start) }
        #expect(table.due(at: start + .seconds(100)).isEmpty)
        let wanted = Dictionary(refused.map { ($0.1, 1) }, uniquingKeysWith: +)
        #expect(wanted[.unfit] == 2)
        #expect(table.refusals == wanted)
        for (service, _) in refused { table.lost(service.instance, at: start + .seconds(101)) }
        #expect(table.refusals.isEmpty)
    }

    @Test func aThousandNamesAreNinetyAndTheFirstStay() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        for number in 0..<1000 { table.saw(try service("s\(number)", host: "h\(number).local"), admission, at: start) }
        var published: [ServiceInstance] = []
        for second in 5..<400 {
            for case .publish(let instance, _) in table.due(at: start + .seconds(second)) { published.append(instance) }
        }
        #expect(published.count == 90 && table.published == 90)
        #expect(table.refusals[.tooMany] == 910)
        #expect(Set(published.map(\.name.text)) == Set((0..<90).map { "s\($0)" }))
    }

    @Test func whatWaitsForRoomComesWhenThereIsSome() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        let all = try (0..<91).map { try service("s\($0)") }
        for service in all { table.saw(service, admission, at: start) }
        // The first brings its host.
        #expect(table.due(at: start + .seconds(5)).count == 87)
        #expect(table.due(at: start + .seconds(6)).count == 3 && table.refusals == [.tooMany: 1])
        table.lost(all[7].instance, at: start + .seconds(10))
        #expect(table.due(at: start + .seconds(70)) == [.withdraw(all[7].instance)])
        #expect(table.refusals.isEmpty)
        let next = table.due(at: start + .seconds(75))
        guard case .publish(all[90].instance, _)? = next.first, next.count == 1 else {
            Issue.record("\(next)")
            return
        }
    }

    @Test func theYoungestOfTheGreediestHostGivesWay() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        // Under many names, and at one address.
        let crowd = try (0..<95).map { try service("s\($0)", host: "h\($0).local", addresses: ["10.1.0.66"]) }
        for service in crowd { table.saw(service, admission, at: start) }
        for second in 5..<100 { _ = table.due(at: start + .seconds(second)) }
        #expect(table.published == 90 && table.refusals == [.tooMany: 5])
        let printer = try service("printer", host: "printer.local")
        table.saw(printer, admission, at: start + .seconds(100))
        #expect(table.due(at: start + .seconds(100)) == [.withdraw(crowd[89].instance)])
        // It is announced again, and has no place.
        table.saw(crowd[89], admission, at: start + .seconds(101))
        let next = table.due(at: start + .seconds(105))
        guard case .publish(printer.instance, _)? = next.first, next.count == 1 else {
            Issue.record("\(next)")
            return
        }
        #expect(table.published == 90 && table.refusals == [.tooMany: 6])
        table.lost(printer.instance, at: start + .seconds(110))
        #expect(table.due(at: start + .seconds(170)) == [.withdraw(printer.instance)])
        // The one that has waited longest.
        let last = table.due(at: start + .seconds(175))
        guard case .publish(crowd[90].instance, _)? = last.first, last.count == 1 else {
            Issue.record("\(last)")
            return
        }
    }

    @Test func twoGreedyHostsHaveHalfEachAndRest() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        for (host, address) in [("one", "10.1.0.66"), ("two", "10.1.0.67")] {
            for number in 0..<200 {
                let one = try service("\(host)-\(number)", host: "\(host).local", addresses: [address])
                table.saw(one, admission, at: start)
            }
        }
        var published: [String: Int] = [:]
        for second in 5..<300 {
            for case .publish(_, let export) in table.due(at: start + .seconds(second)) {
                published[export.linkHost.text, default: 0] += 1
            }
        }
        #expect(published == ["one.local": 45, "two.local": 45], "no one's place changes hands twice")
    }

    /// RFC 2782 lets a name have several; an export has one host.
    @Test func ofSeveralHostsTheFirstThatWasExportedStays() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        let printer = try service("printer", host: "zeta.local", addresses: ["10.1.0.7"])
        table.saw(printer, admission, at: start)
        guard case .publish(_, let export)? = table.due(at: start + .seconds(5)).first else {
            Issue.record("not exported")
            return
        }
        var both = try service("printer", host: "alpha.local", addresses: [])
        both.endpoints = try [("alpha.local", "10.1.0.66", 666), ("zeta.local", "10.1.0.7", 80)].map {
            Endpoint(
                address: try address($1), port: try Port($2), interface: Self.eth0,
                target: ServiceTarget(host: try HostName($0), priority: 0, weight: 0))
        }
        table.saw(both, admission, at: start + .seconds(20))
        #expect(table.due(at: start + .seconds(40)).isEmpty && export.linkHost.text == "zeta.local")
        // A table that has not seen the first takes one of them, with its addresses alone.
        var other = ExportTable(at: start)
        other.saw(both, admission, at: start)
        guard case .publish(_, let one)? = other.due(at: start + .seconds(5)).first else {
            Issue.record("not exported")
            return
        }
        let wanted = try address("10.1.0.66")
        #expect(one.linkHost.text == "alpha.local" && one.addresses == [wanted] && one.service.port.rawValue == 666)
    }

    /// Each host is a publisher: a lease, its addresses, its service, and the proof that the server has all of it.
    @Test func aHostCountsWithAllThatItNeeds() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        for number in 0..<90 {
            let one = try service("s\(number)", host: "h\(number).local", addresses: ["10.1.0.\(number + 100)"])
            table.saw(one, admission, at: start)
        }
        var updates = 0
        var seconds = 5
        while table.published < 90, seconds < 200 {
            updates += 4 * table.due(at: start + .seconds(seconds)).count
            #expect(Double(updates) <= ExportPace.zone.burst + Double(seconds - 5) * ExportPace.zone.perSecond)
            seconds += 1
        }
        #expect(updates == 360 && seconds > 58)
    }

    @Test func updatesAreBoundedWhateverTheLinkDoes() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        var updates = 0
        for second in 0..<600 {
            let now = start + .seconds(second)
            for number in 0..<90 {
                table.saw(try service("s\(number)", port: 1 + second), admission, at: now)
            }
            updates += table.due(at: now).count
        }
        #expect(Double(updates) <= ExportPace.zone.burst + 600 * ExportPace.zone.perSecond)
        #expect(updates > 600)
    }

    @Test func aHostHasOneNumberAsLongAsSomebodyHasIt() throws {
        final class User {}
        let users = (0..<4).map { _ in User() }
        let (wpad, same) = (try HostName("wpad.local"), try HostName("WPAD.local"))
        let (ns, printer) = (try HostName("ns.local"), try HostName("printer.local"))
        var hosts = HostNumbers()
        #expect(hosts.number(of: wpad, for: ObjectIdentifier(users[0])) == 1)
        #expect(hosts.number(of: same, for: ObjectIdentifier(users[1])) == 1)
        #expect(hosts.number(of: ns, for: ObjectIdentifier(users[2])) == 2)
        hosts.release(ObjectIdentifier(users[0]))
        #expect(hosts.number(of: printer, for: ObjectIdentifier(users[3])) == 3)
        // Who goes to another host has the old one's no more; nobody else has it.
        #expect(hosts.number(of: ns, for: ObjectIdentifier(users[1])) == 2)
        #expect(hosts.number(of: wpad, for: ObjectIdentifier(users[0])) == 1)
    }

    @Test func aServiceThatIsSpoofedIsWithdrawn() throws {
        var table = ExportTable(at: start)
        let admission = try admission()
        let web = try service("web")
        table.saw(web, admission, at: start)
        _ = table.due(at: start + .seconds(5))
        table.saw(try service("web", addresses: ["8.8.8.8"]), admission, at: start + .seconds(10))
        #expect(table.due(at: start + .seconds(70)) == [.withdraw(web.instance)])
    }

    // MARK: Another link

    private func mirrored(_ service: DiscoveredService) throws -> OfferedService? {
        let links = MirrorLinks(interfaces: try InterfaceFilter(["eth1"]), label: "iot")
        var table = ExportTable(at: start, pace: .link())
        table.saw(service, try admission(to: links), at: start)
        guard case .publish(_, let export)? = table.due(at: start).first else { return nil }
        table.lost(service.instance, at: start)
        #expect(table.due(at: start) == [.withdraw(service.instance)])
        return try links.service(for: export, mayCome: true)
    }

    @Test(arguments: [
        ("printer.local", "printer-iot.local"), ("H1.local", "H1-iot.local"), ("a.b.local", "hostb15526cd-iot.local"),
        ("host1.local", "hostf7c38087-iot.local"),
        (#"a\.b.local"#, "host24cd0929-iot.local"), ("büro.local", "host5b00e9e4-iot.local"),
        (String(repeating: "a", count: 41) + ".local", "hostcd584945-iot.local"),
    ])
    func onAnotherLinkAHostHasANameOfItsOwn(host: String, name: String) throws {
        let offered = try #require(try mirrored(service("web", host: host, port: 8080)))
        #expect(offered.host?.name.text == name && offered.host?.addresses.map(\.description) == ["10.1.0.7"])
        #expect(offered.domain == .local && offered.port.rawValue == 8080 && offered.interfaces.patterns == ["eth1"])
    }

    @Test func ofTwoLinksHostsOfOneNameTheFirstIsMirrored() throws {
        let cam = NetworkInterface(index: 3, name: "cam0")
        let links = MirrorLinks(interfaces: try InterfaceFilter(["home0"]), label: "iot")
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["eth0", "cam0"])), to: .links(links),
            types: [try ServiceType("_http._tcp")])
        let entries = try [(Self.eth0, "10.1.0.1"), (cam, "10.3.0.1")].map {
            LocalAddresses.Entry(interface: $0, address: try address($1), prefixLength: 24)
        }
        let admission = ExportAdmission(rule, local: LocalAddresses(entries: entries)) { _, _ in true }
        var table = ExportTable(at: start, pace: .link())
        let evil = try service("evil", addresses: ["10.3.0.4"], interface: cam)
        var tony = try service("tony")
        table.saw(tony, admission, at: start)
        table.saw(evil, admission, at: start)
        #expect(table.due(at: start).count == 1 && table.refusals == [.foreignHost: 1])
        #expect(table.mayComeIn(evil.instance) && !table.mayComeIn(tony.instance), "once the other is gone")
        // Nor does it add its addresses to the other's service.
        tony.endpoints += evil.endpoints
        table.saw(tony, admission, at: start + .seconds(1))
        #expect(table.due(at: start + .seconds(1)).isEmpty)
        table.lost(tony.instance, at: start + .seconds(2))
        #expect(table.due(at: start + .seconds(2)) == [.withdraw(tony.instance)])
        table.saw(evil, admission, at: start + .seconds(3))
        guard case .publish(_, let export)? = table.due(at: start + .seconds(3)).first else {
            Issue.record("it is the only one now")
            return
        }
        #expect(export.addresses.map(\.description) == ["10.3.0.4"] && export.link == "cam0")
    }

    @Test func whatThisMachineHasOnBothLinksIsNotMirrored() throws {
        var own = try service("web")
        own.isOwn = true
        #expect(try mirrored(own) == nil)
        // Nor what another mirror brought here: its addresses are another link's.
        #expect(try mirrored(service("web", host: "printer-home.local", addresses: ["10.2.0.7"])) == nil)
    }

    // MARK: Another site

    /// What becomes of it, and which addresses it has.
    private func judged(_ service: DiscoveredService, _ rule: ExportRule) throws -> String {
        let own = LocalAddresses.Entry(interface: Self.eth0, address: try address("10.1.0.1"), prefixLength: 24)
        let local = LocalAddresses(entries: [own])
        let policy = AddressPolicy(namedDomains: [.local])
        let admission = ExportAdmission(rule, local: local) {
            "\($0)".hasPrefix("10.9.")
        } mayBeDialled: {
            policy.refusal(of: $0, isOwn: $1, local: local, routes: NoWay()) == nil
        }
        return switch admission.judge(service) {
        case nil: "nothing"
        case .success(let candidate): candidate.addresses.map(\.description).joined(separator: " ")
        case .failure(let refusal): refusal.rawValue
        }
    }

    private struct NoWay: RouteLookup {
        func route(to address: IPAddress) -> Route? { nil }
    }

    @Test(arguments: [
        (["10.9.0.7"], "10.9.0.7"), (["10.9.0.7", "10.8.0.7", "10.1.0.7"], "10.9.0.7"), (["10.8.0.7"], "no-route"),
        (["10.1.0.7"], "address"), (["10.1.0.1"], "address"), (["127.0.0.1"], "address"), (["169.254.1.1"], "address"),
        (["224.0.0.251"], "address"), (["0.0.0.0"], "address"), (["255.255.255.255"], "address"),
        (["169.254.169.254"], "address"), (["fe80::1%eth0"], "address"), (["::1"], "address"),
        (["::ffff:10.9.0.7"], "address"),
        (["64:ff9b::a09:7"], "address"), ([], "address"),
    ])
    func ofAnotherSitesAddressesThoseCountToWhichARouteLeads(_ addresses: [String], _ outcome: String) throws {
        let site = MirrorPeer(name: "a", host: "10.9.0.1", port: try Port(5354))
        let rule = ExportRule(
            from: .peer(site), to: .links(MirrorLinks(interfaces: try InterfaceFilter(["eth0"]), label: "a")),
            types: [try ServiceType("_http._tcp")])
        let port = try Port(80)
        var told = try service("web", addresses: [])
        told.port = port
        for text in addresses {
            let address = try #require(IPAddress(text, on: Self.eth0))
            // An interface is what the other site says, and may be the name of one that is here.
            told.endpoints.append(Endpoint(address: address, port: port, interface: Self.eth0))
        }
        #expect(try judged(told, rule) == outcome)
        told.isOwn = true
        #expect(try judged(told, rule) == outcome, "whose it is there says nothing here")
        told.host = try HostName("www.example.org")
        #expect(try judged(told, rule) == "foreign-host")
    }

    @Test func anotherSiteIsToldWhatIsOfTheLinkOrOfThisMachineItself() throws {
        let listen = MirrorListen(address: try address("10.9.0.1"), port: try Port(5354), peers: ["b"])
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["eth0"])), to: .peers(listen), types: [try ServiceType("_http._tcp")])
        #expect(try judged(service("tony"), rule) == "10.1.0.7")
        var own = try service("own", addresses: ["10.1.0.1"])
        own.isOwn = true
        #expect(try judged(own, rule) == "10.1.0.1")
        // What a mirror has brought to this machine, even from a network of the same numbers.
        var mirrored = try service("tony", host: "h3-iot.local", addresses: ["10.1.0.7"])
        mirrored.isOwn = true
        #expect(try judged(mirrored, rule) == "foreign-host")
        // What another machine's mirror has brought.
        #expect(try judged(service("tony", host: "h3-iot.local", addresses: ["10.9.0.7"]), rule) == "address")
    }

    @Test func aMirroredServiceHasTheSubtypesThatItsRuleNamesFromTheBeginningAndUntilItsEnd() throws {
        let types = ["_http._tcp", "_universal._sub._http._tcp", "_print._sub._http._tcp"].map { try? ServiceType($0) }
        let rule = ExportRule(
            from: .links(try InterfaceFilter(["eth0"])),
            to: .links(MirrorLinks(interfaces: try InterfaceFilter(["eth1"]), label: "iot")),
            types: types.compactMap(\.self))
        #expect(rule.types.count == 1 && rule.followed.count == 3)
        let own = LocalAddresses.Entry(interface: Self.eth0, address: try address("10.1.0.1"), prefixLength: 24)
        let admission = ExportAdmission(rule, local: LocalAddresses(entries: [own])) { _, _ in true }
        var table = ExportTable(at: start, pace: .link(hasSubtypes: true))
        var web = try service("web")
        func saw(_ subtypes: [String], after milliseconds: Int) -> [String]? {
            let now = start + .milliseconds(milliseconds)
            web.subtypes = subtypes
            table.saw(web, admission, at: now)
            switch table.due(at: now).first {
            case .publish(_, let export)?, .change(_, let export)?: return export.service.subtypes
            case .withdraw?, nil: return nil
            }
        }
        #expect(saw([], after: 0) == nil && saw(["_UNIVERSAL", "_other"], after: 100) == nil)
        #expect(saw([], after: 500) == ["_universal"])
        #expect(saw(["_print"], after: 600) == ["_print", "_universal"])
        #expect(saw([], after: 700) == nil)
        table.lost(web.instance, at: start + .seconds(1))
        #expect(table.due(at: start + .seconds(1)) == [.withdraw(web.instance)])
    }

    @Test func whatItsHostOffersOnTheOtherLinkItselfIsWithheldAndComesBack() throws {
        let links = MirrorLinks(interfaces: try InterfaceFilter(["eth1"]), label: "iot")
        let admission = try admission(to: links)
        let web = try service("web")
        var table = ExportTable(at: start, pace: .link(), opens: start + .seconds(3))
        func actions(_ seconds: Int) -> [String] {
            table.due(at: start + .seconds(seconds)).map { action in
                switch action {
                case .publish: "publish"
                case .change: "change"
                case .withdraw: "withdraw"
                }
            }
        }
        // It is there from the beginning.
        table.saw(web, admission, at: start)
        table.isThere(web.instance, on: try HostName("H1.local"), at: start + .seconds(1))
        table.othersAreKnown(at: start + .seconds(1))
        #expect(actions(4).isEmpty && table.refusals == [.original: 1])
        table.isThere(web.instance, on: nil, at: start + .seconds(5))
        #expect(actions(5) == ["publish"] && table.refusals.isEmpty)
        // Its own copy there, and another host's service of the name, are no reason.
        for host in ["h1-iot.local", "h2.local"] {
            table.isThere(web.instance, on: try HostName(host), at: start + .seconds(6))
            #expect(actions(6).isEmpty)
        }
        table.isThere(web.instance, on: try HostName("h1.local"), at: start + .seconds(7))
        #expect(actions(7) == ["withdraw"])
        table.saw(try service("web", port: 81), admission, at: start + .seconds(8))
        #expect(actions(8).isEmpty && table.refusals == [.original: 1])
        // Gone from its own link meanwhile: it does not come back.
        table.lost(web.instance, at: start + .seconds(9))
        table.isThere(web.instance, on: nil, at: start + .seconds(10))
        #expect(actions(10).isEmpty && table.refusals.isEmpty && table.next == nil)
    }

    @Test func nothingIsPublishedUntilItIsKnownWhatTheOtherLinkHas() throws {
        let admission = try admission(to: MirrorLinks(interfaces: try InterfaceFilter(["eth1"]), label: "iot"))
        for known in [2, 5] {
            var table = ExportTable(at: start, pace: .link(), opens: start + .seconds(3))
            table.saw(try service("web"), admission, at: start)
            #expect(table.due(at: start + .seconds(1)).isEmpty && table.next == start + .seconds(3))
            if known == 2 { table.othersAreKnown(at: start + .seconds(2)) }
            #expect(table.due(at: start + .seconds(min(known, 3))).count == 1)
        }
    }
}
