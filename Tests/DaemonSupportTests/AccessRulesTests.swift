import DNSSD
import Testing

@testable import DiscoveryDaemon

@Suite struct AccessRulesTests {
    private let http: ServiceType
    private let ssh: ServiceType
    private var rules = AccessRules()

    init() throws {
        http = try ServiceType("_http._tcp")
        ssh = try ServiceType("_ssh._tcp")
        rules.groupID = 900
        rules.attached = .rules
        rules.ownUserID = 61_000
        rules.rules = [
            .init(subject: .user("alice"), types: [http]), .init(subject: .group("web", id: 33), types: nil),
            .init(subject: .user("1005"), types: [ssh]), .init(subject: .group("nobody-has-it", id: nil), types: nil),
        ]
    }

    private func service(_ type: ServiceType, _ domain: String = "local") throws -> OfferedService {
        OfferedService(
            name: try ServiceName("a"), type: type, domain: try Domain(domain), port: try #require(Port(rawValue: 80)))
    }

    private struct Case: Sendable {
        let uid: UInt32
        let gids: [UInt32]
        let name: String?
        let mayHTTP: Bool
        let maySSH: Bool

        init(_ uid: UInt32, _ gids: [UInt32], _ name: String?, _ mayHTTP: Bool, _ maySSH: Bool) {
            (self.uid, self.gids, self.name, self.mayHTTP, self.maySSH) = (uid, gids, name, mayHTTP, maySSH)
        }
    }

    private static let cases: [Case] = [
        Case(0, [0], "root", true, true), Case(61_000, [61_000], nil, true, true),
        Case(1000, [1000, 900], "bob", true, true), Case(1000, [1000], "alice", true, false),
        Case(1000, [1000, 33], "bob", true, true), Case(1005, [1005], "carol", false, true),
        Case(1005, [1005], nil, false, true), Case(1000, [1000], "bob", false, false),
        Case(1000, [], nil, false, false), Case(1000, [], "1005", false, false),
    ]

    @Test(arguments: cases) private func decides(_ this: Case) throws {
        for isAttached in [false, true] {
            let decide = { (type: ServiceType) in
                rules.refusalToPublish(
                    uid: this.uid, gids: this.gids, userName: this.name, try service(type), isAttached: isAttached
                ) == nil
            }
            #expect(try decide(http) == this.mayHTTP)
            #expect(try decide(ssh) == this.maySSH)
        }
    }

    @Test(arguments: [false, true]) func aDenialNamesGroupAndRule(_ isAttached: Bool) throws {
        let reason = try #require(
            rules.refusalToPublish(
                uid: 1000, gids: [], userName: "bo\u{1B}b", try service(ssh), isAttached: isAttached))
        #expect(reason.contains("group discoverd"))
        #expect(reason.contains("allow: [{user: bo\\u{1B}b, types: [_ssh._tcp]}]"))
        #expect(reason.contains("--socket none") == isAttached && reason.contains("attached: anyone") == isAttached)
        #expect(reason.utf8.allSatisfy { $0 >= 0x20 })
    }

    /// avahi-daemon lets every user publish, and a running daemon must not take that away.
    @Test func whoIsConnectedMayPublishInLocal() throws {
        let rules = AccessRules()
        let decide = { (type: ServiceType, domain: String, isAttached: Bool) in
            rules.refusalToPublish(
                uid: 1000, gids: [1000], userName: "bob", try service(type, domain), isAttached: isAttached
            ) == nil
        }
        #expect(try decide(http, "local", true) && decide(ssh, "local", true) && decide(ssh, "LOCAL.", true))
        #expect(try !decide(http, "local", false))
        #expect(try !decide(http, "example.org", true))
        #expect(rules.refusalToManage(uid: 1000, gids: [1000], userName: "bob") != nil)
    }

    @Test("the services of another host are for root, the group, and whom a rule names for that host")
    func hosts() throws {
        var rules = AccessRules()
        let printer = try HostName("printer.local")
        rules.rules.append(.init(subject: .user("alice"), types: [http], hosts: [printer]))
        rules.rules.append(.init(subject: .user("bob"), types: nil))
        let decide = { [rules] (uid: UInt32, name: String, host: HostName) in
            var service = try service(http)
            service.host = try OfferedHost(name: host)
            return rules.refusalToPublish(uid: uid, gids: [], userName: name, service, isAttached: true)
        }
        #expect(try decide(0, "root", printer) == nil && decide(1000, "alice", HostName("PRINTER.local")) == nil)
        #expect(try decide(1000, "alice", HostName("router.local")) != nil)
        let refusal = try decide(1001, "bob", printer)
        #expect(refusal?.contains("allow: [{user: bob, types: [_http._tcp], hosts: [printer.local]}]") == true)
    }

    @Test("an address record is for root, the group, and whom a rule names for its host, whatever the types")
    func addressRecords() throws {
        var rules = AccessRules()
        let printer = try HostName("printer.local")
        rules.rules.append(.init(subject: .user("alice"), types: [], hosts: [printer]))
        rules.rules.append(.init(subject: .user("bob"), types: nil))
        let decide = { [rules] (uid: UInt32, name: String, host: HostName) in
            let host = try OfferedHost(name: host, addresses: [try #require(IPAddress("10.0.0.9"))])
            let record = try OfferedService(addressesOf: host)
            return rules.refusalToPublish(uid: uid, gids: [], userName: name, record, isAttached: true)
        }
        #expect(try decide(0, "root", printer) == nil && decide(1000, "alice", printer) == nil)
        #expect(try decide(1000, "alice", HostName("router.local")) != nil)
        let refusal = try decide(1001, "bob", printer)
        #expect(
            refusal?.contains("allow: [{user: bob, types: [], hosts: [printer.local]}]") == true, "\(refusal ?? "")")
    }

    @Test("an alias is for those whom a rule names for it, though anyone may publish services while connected")
    func aliases() throws {
        var rules = AccessRules()
        rules.rules.append(.init(subject: .user("alice"), types: [], hosts: [try HostName("wiki.local")]))
        let decide = { [rules] (uid: UInt32, name: String, alias: String) in
            let alias = try OfferedService(alias: OfferedAlias(alias))
            return rules.refusalToPublish(uid: uid, gids: [], userName: name, alias, isAttached: true)
        }
        #expect(try decide(0, "root", "nas") == nil && decide(1000, "alice", "WIKI") == nil)
        #expect(try decide(1000, "alice", "nas") != nil)
        let refusal = try decide(1001, "bob", "wiki")
        #expect(
            refusal?.hasPrefix("user bob may not publish the alias wiki.local: only root") == true, "\(refusal ?? "")")
        #expect(refusal?.contains("allow: [{user: bob, types: [], hosts: [wiki.local]}]") == true)
        // The daemon's key for a zone is for whom a rule names, for that domain and that name.
        let domain = try Domain("example.org")
        let zone = try OfferedService(alias: OfferedAlias("wiki", in: domain))
        let inZone = rules.refusalToPublish(uid: 1000, gids: [], userName: "alice", zone, isAttached: true) ?? ""
        #expect(inZone.hasPrefix("user alice may not publish the alias wiki.example.org in example.org: only root"))
        let rule = "{user: alice, types: [], domains: [example.org], hosts: [wiki.example.org]}"
        #expect(inZone.contains(rule), "\(inZone)")
        rules.rules.append(
            .init(subject: .user("alice"), types: [], domains: [domain], hosts: [try HostName("wiki.example.org")]))
        #expect(rules.refusalToPublish(uid: 1000, gids: [], userName: "alice", zone, isAttached: true) == nil)
    }

    @Test func aGroupThatDoesNotExistIsNamedSo() {
        var rules = rules
        rules.groupID = nil
        #expect(
            rules.refusalToManage(uid: 1000, gids: [900], userName: nil)
                == "user 1000 may not do this: only root and members of the group discoverd (which does not exist)")
    }

    @Test func subtypesAreOfTheirType() throws {
        let subtype = try ServiceType("_printer._sub._http._tcp")
        #expect(
            rules.refusalToPublish(uid: 1000, gids: [], userName: "alice", try service(subtype), isAttached: false)
                == nil)
    }

    @Test func quotas() {
        #expect(rules.quota(uid: 0) == 1024 && rules.quota(uid: 1) == 64)
    }

    @Test("the daemon's key for a zone is for root, its own user, and whom a rule names for that domain")
    func zones() throws {
        var rules = rules
        let zone = try Domain("home.example.org")
        rules.rules.append(.init(subject: .user("dora"), types: [http], domains: [zone]))
        let may = { [rules] (uid: UInt32, gids: [UInt32], name: String?, type: ServiceType, domain: String) in
            let refusals = try [true, false].map { isAttached in
                rules.refusalToPublish(
                    uid: uid, gids: gids, userName: name, try service(type, domain), isAttached: isAttached)
            }
            #expect((refusals[0] == nil) == (refusals[1] == nil))
            return refusals[0] == nil
        }
        #expect(try may(0, [0], "root", http, "home.example.org") && may(61_000, [], nil, http, "home.example.org"))
        #expect(
            try may(1006, [1006], "dora", http, "home.example.org") && may(1006, [], "dora", http, "a.home.example.org")
        )
        #expect(try !may(1006, [1006], "dora", ssh, "home.example.org") && !may(1006, [], "dora", http, "example.org"))
        // Neither the group nor a rule without domains is for a zone.
        #expect(
            try !may(1000, [1000, 900], "bob", http, "home.example.org")
                && !may(1000, [], "alice", http, "home.example.org"))
        rules.attached = .anyone
        let refusal = rules.refusalToPublish(
            uid: 1000, gids: [], userName: "alice", try service(http, "home.example.org"), isAttached: true)
        #expect(refusal?.contains("domains: [home.example.org]") == true)
    }
}
