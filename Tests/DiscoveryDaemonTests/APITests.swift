import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Foundation
import Glibc
import Testing

@Suite struct APITests {
    private let network = SimulatedNetwork()

    @Test func servicesAreListedAndWatchedFromACursor() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let type = try ServiceType("_xx._tcp")
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), browse: [type])
        let one = other.publish(try OfferedService(name: "one", type: "_xx._tcp", port: 1))
        _ = try await one.established()
        let stream = await Lines(daemon.path, "/v1/services/watch?type=_xx._tcp")
        let found = try await stream.next { $0["event"]?.string == "added" }
        let settled = try await stream.next { $0["event"]?.string == "settled" }
        let cursor = try #require(settled["cursor"]?.string)
        #expect(found["service"]?["name"]?.string == "one")
        stream.close()
        let listed = try await daemon.get("/v1/services?type=_xx._tcp")["services"]?.array
        #expect(listed?.count == 1)
        // A returning reader gets exactly what happened while no one was reading.
        let two = other.publish(try OfferedService(name: "two", type: "_xx._tcp", port: 2))
        _ = try await two.established()
        await one.withdraw()
        let resumed = await Lines(daemon.path, "/v1/services/watch?type=_xx._tcp&since=\(cursor)")
        let added = try await resumed.next { $0["event"]?.string == "added" }
        #expect(added["service"]?["name"]?.string == "two")
        let removed = try await resumed.next { $0["event"]?.string == "removed" }
        #expect(removed["service"]?["name"]?.string == "one")
        await two.withdraw()
        await daemon.stopAndRemove()
    }

    @Test(arguments: ["json", "lines", "text"]) func anAnswerThatIsKeptIsMadeAnewWhenSomethingChanges(_ format: String)
        async throws
    {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let type = try ServiceType("_xx._tcp")
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), browse: [type])
        let target = "/v1/services?type=_xx._tcp&format=\(format)"
        func ask() async throws -> String {
            String(decoding: try await daemon.client.send(ControlClient.Request("GET", target)), as: UTF8.self)
        }
        let one = other.publish(try OfferedService(name: "one", type: "_xx._tcp", port: 1))
        _ = try await one.established()
        while try await !ask().contains("one") {}
        let first = try await ask()
        #expect(try await ask() == first)
        let two = other.publish(try OfferedService(name: "two", type: "_xx._tcp", port: 2))
        _ = try await two.established()
        while try await !ask().contains("two") {}
        await one.withdraw()
        while try await ask().contains("one") {}
        #expect(try await ask() != first)
        await two.withdraw()
        await daemon.stopAndRemove()
    }

    @Test("what is listed in either version is the same, also of an answer that is kept")
    func servicesOfVersion2() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let publication = other.publish(try OfferedService(name: "one", type: "_xx._tcp", port: 1))
        _ = try await publication.established()
        let first = try await daemon.get("/v1/services?type=_xx._tcp")["services"]?.array ?? []
        #expect(first.count == 1)
        for target in ["/v2/services?type=_xx._tcp", "/v2/services?type=_xx._tcp&format=json"] {
            let list = try await daemon.get(target)
            #expect(list["v"]?.integer == 2 && list["complete"]?.bool == true && list["reason"] == nil)
            #expect(list["services"]?.array == first.map(Version2.service), "\(list)")
        }
        let lines = try await daemon.client.send(
            ControlClient.Request("GET", "/v2/services?type=_xx._tcp&format=lines"))
        let events = try lines.split(separator: UInt8(ascii: "\n")).map { try JSONReader.read(Array($0)) }
        #expect(events.map { $0["event"]?.string } == ["added", "complete"])
        #expect(events.allSatisfy { $0["v"]?.integer == 2 })
        #expect(try await daemon.get("/v1/services?type=_xx._tcp")["services"]?.array == first)
        await publication.withdraw()
        await daemon.stopAndRemove()
    }

    @Test(arguments: ["1-1-1-1", "nonsense", "ffffffff-1-0-0"]) func aCursorOfAnotherLifeIsGone(_ cursor: String)
        async throws
    {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let error = await #expect(throws: ControlError.self) {
            try await daemon.get("/v1/services/watch?type=_xx._tcp&since=\(cursor)")
        }
        #expect(error?.status == 410)
        await daemon.stopAndRemove()
    }

    @Test func textIsReplacedWithoutAnEnd() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let made = try JSONReader.read(
            await daemon.post("/v1/registrations", #"{"name":"a","port":7,"txt":{"k":"v"}}"#))
        let id = try #require(made["id"]?.string)
        func put(_ id: String, _ body: String) async throws -> JSONValue {
            let request = ControlClient.Request("PUT", "/v1/registrations/\(id)/txt", body: Array(body.utf8))
            return try JSONReader.read(await daemon.client.send(request))
        }
        let changed = try await put(id, #"{"k":"w","f":null}"#)
        #expect(changed["id"]?.string == id && changed["state"]?.string == "established")
        // What it is now is what a request must say to be the same.
        let same = #"{"name":"a","port":7,"txt":{"k":"w","f":null}}"#
        let again = try JSONReader.read(await daemon.post("/v1/registrations", same))
        #expect(again["id"]?.string == id)
        for (id, body, status) in [
            (id, "[]", 400), (id, #"{"k":1}"#, 400), (id, "{", 400), ("x", "{}", 404),
        ] {
            let error = await #expect(throws: ControlError.self) { try await put(id, body) }
            #expect(error?.status == status, "\(body)")
        }
        await daemon.stopAndRemove()
    }

    @Test func registrationsAreMadeListedAndWithdrawn() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let other = LocalNetwork(engine: try network.addMachine("h2"))
        let theirs = other.publish(try OfferedService(name: "b", type: "_witap._tcp", port: 1))
        _ = try await theirs.established()
        let answer = try JSONReader.read(
            await daemon.post("/v1/registrations", #"{"name":"a","port":7,"txt":{"k":"v","f":null}}"#)
        )
        #expect(answer["state"]?.string == "established")
        let id = try #require(answer["id"]?.string)
        let taken = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"b","port":9,"onConflict":"fail"}"#)
        }
        #expect(taken?.status == 409 && taken?.code == "name-taken")
        let second = try JSONReader.read(await daemon.post("/v1/registrations", #"{"name":"b","port":8}"#))
        #expect(second["name"]?.string == "b #2")
        _ = try await daemon.client.send(ControlClient.Request("DELETE", "/v1/registrations/\(id)"))
        let left = try await daemon.get("/v1/registrations")["registrations"]?.array
        #expect(left?.count == 1)
        let gone = await #expect(throws: ControlError.self) {
            try await daemon.client.send(ControlClient.Request("DELETE", "/v1/registrations/\(id)"))
        }
        #expect(gone?.status == 404)
        await daemon.stopAndRemove()
    }

    @Test("an alias is published, listed, found again, changed by nobody, and has another name where its own is taken")
    func alias() async throws {
        let other = try network.addMachine("h2")
        let taken = try OfferedHost(name: HostName("nas.local"), addresses: [try #require(IPAddress("10.0.0.9"))])
        let publication = LocalNetwork(engine: other).publish(try OfferedService(addressesOf: taken))
        _ = try await publication.established()
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let wiki = #"{"host":"shop.wiki","alias":true}"#
        let answer = try JSONReader.read(await daemon.post("/v1/registrations?wait=5", wiki))
        #expect(answer["name"]?.string == "shop.wiki.local" && answer["host"]?.string == "shop.wiki.local")
        #expect(answer["alias"]?.bool == true && answer["addresses"]?.strings == [] && answer["type"] == nil)
        let again = try JSONReader.read(await daemon.post("/v1/registrations?wait=5", wiki))
        #expect(again["id"]?.string == answer["id"]?.string)
        let renamed = try JSONReader.read(
            await daemon.post("/v1/registrations?wait=5", #"{"host":"nas","alias":true}"#))
        #expect(renamed["host"]?.string == "nas-2.local" && renamed["wanted"]?.string == "nas.local")
        let refused = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations?wait=5", #"{"host":"nas","alias":true,"onConflict":"fail"}"#)
        }
        #expect(refused?.status == 409)
        let service = try JSONReader.read(
            await daemon.post("/v1/registrations?wait=5", #"{"name":"a","port":9,"host":"wiki","alias":true}"#))
        #expect(service["host"]?.string == "wiki.local" && service["state"]?.string == "established")
        let second = try await daemon.get("/v2/publications")
        let hosts: [JSONValue] = (second["publications"]?.array ?? []).compactMap { $0["host"] }
        #expect(hosts.map { $0["name"]?.string } == ["shop.wiki.local", "nas-2.local"])
        #expect(hosts.allSatisfy { $0["alias"]?.bool == true && $0["addresses"]?.array?.isEmpty == true }, "\(second)")
        await daemon.stopAndRemove()
        await publication.withdraw()
    }

    @Test(
        "an alias of a zone is read as it is written, with a service on it, too",
        arguments: [
            #"{"host":"wiki","alias":true,"domain":"example.org"}"#,
            #"{"name":"a","port":9,"host":"wiki.example.org","alias":true,"domain":"example.org"}"#,
        ]) func aliasOfAZone(_ body: String) throws
    {
        let request = try RegistrationRequest(JSONReader.read(Array(body.utf8)))
        #expect(request.service.host?.name.text == "wiki.example.org" && request.service.host?.isAlias == true)
        #expect(request.service.domain.text == "example.org" && request.service.aliasFault == nil)
        var writer = JSONWriter()
        writer.request(request)
        #expect(try RegistrationRequest(JSONReader.read(writer.bytes)) == request)
    }

    @Test(arguments: [
        (#"{"name":"a"}"#, 400), (#"{"name":"a","port":0}"#, 400), (#"{"name":"","port":1}"#, 400),
        (#"{"name":"a","port":1,"prot":1}"#, 400), (#"{"name":"a","port":1,"machine":"x"}"#, 400),
        ("[]", 400), ("{", 400),
        (#"{"name":"a","port":1,"addresses":["10.0.0.9"]}"#, 400), (#"{"name":"a","port":1,"host":"a..b"}"#, 400),
        (#"{"name":"a","port":1,"host":"a.local","addresses":["127.0.0.1"]}"#, 400),
        (#"{"name":"a","port":1,"host":"a.local","addresses":["x"]}"#, 400),
        (#"{"name":"a","port":1,"host":"a.local","check":"http:/"}"#, 400),
        (#"{"host":"local","alias":true}"#, 400), (#"{"host":"_http._tcp.local","alias":true}"#, 400),
        (#"{"alias":true}"#, 400), (#"{"host":"a.local","alias":false}"#, 400), (#"{"host":"a","alias":"b"}"#, 400),
        (#"{"host":"a.local","alias":true,"addresses":["10.0.0.9"]}"#, 400),
        (#"{"host":"a.local","alias":true,"txt":{}}"#, 400), (#"{"host":"a.local","alias":true,"check":"tcp"}"#, 400),
        (#"{"host":"a_b","alias":true,"domain":"example.org"}"#, 400), (#"{"host":"a","alias":true,"domain":7}"#, 400),
        (#"{"name":"a","port":1,"txt":{"k":7}}"#, 400), (#"{"name":"a","port":1,"type":"_no"}"#, 400),
    ]) func whatIsWrongIsSaid(_ body: String, _ status: Int) async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let error = await #expect(throws: ControlError.self) { try await daemon.post("/v1/registrations", body) }
        #expect(error?.status == status)
        #expect(error?.message.isEmpty == false)
        await daemon.stopAndRemove()
    }

    @Test func aServiceHasAtMost64Subtypes() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        func publish(_ count: Int) async throws -> JSONValue {
            let labels = (0..<count).map { "\"_s\($0)\"" }.joined(separator: ",")
            let body = #"{"name":"a","port":7,"subtypes":[\#(labels)]}"#
            return try JSONReader.read(await daemon.post("/v1/registrations", body))
        }
        let error = await #expect(throws: ControlError.self) { try await publish(65) }
        #expect(error?.status == 400 && error?.code == "invalid-request")
        let most = try await publish(64)
        #expect(most["state"]?.string == "established")
        await daemon.stopAndRemove()
    }

    @Test func whoMayNotPublishIsTold() async throws {
        let daemon = try await TestDaemon(
            engine: try network.addMachine("h1"), refusal: { _, type in "no \(type) for you" })
        let error = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"a","port":7}"#)
        }
        #expect(error?.status == 403 && error?.message == "no _witap._tcp for you")
        let reload = await #expect(throws: ControlError.self) { try await daemon.post("/v1/reload", "") }
        #expect(reload?.status == 403)
        await daemon.stopAndRemove()
    }

    @Test func whatTheBackendRefusesIsNotKeptAndWhatWasTakenBeforeIs() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let old = #"{"name":"old","port":7}"#
        _ = try await daemon.post("/v1/registrations", old)
        network.setRefusal(of: "h1", to: DiscoveryError(.notPermitted, "forbidden (a-setting)"))
        let refused = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"new","port":8}"#)
        }
        #expect(refused?.status == 403 && refused?.code == "not-permitted")
        #expect(refused?.message.contains("a-setting") == true)
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == false, "nothing of what is kept is refused")
        network.stopBackend(of: "h1")
        network.startBackend(of: "h1")
        func only() async throws -> JSONValue? {
            let all = try await daemon.get("/v1/registrations")["registrations"]?.array
            return all?.count == 1 ? all?.first : nil
        }
        while try await only()?["retrying"]?.bool != true {}
        let kept = try #require(try await only())
        #expect(kept["name"]?.string == "old" && kept["state"]?.string == "waiting")
        #expect(kept["code"]?.string == "not-permitted")
        let reasons = try await daemon.get("/v1/status")["reasons"]?.strings
        #expect(reasons == ["a service is not published: forbidden (a-setting)"])
        let health = await #expect(throws: ControlError.self) { try await daemon.get("/healthz") }
        #expect(health?.status == 503)
        let again = try JSONReader.read(try await daemon.post("/v1/registrations", old))
        #expect(again["id"] == kept["id"], "asked for again in the same words it is the same, and stays")
        // As when a limit of avahi-daemon is reached, which is not the quota.
        network.setRefusal(of: "h1", to: DiscoveryError(.limitExceeded, "too many"))
        let full = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"new","port":8}"#)
        }
        #expect(full?.status == 403 && full?.code == "limit-exceeded")
        network.setRefusal(of: "h1", to: nil)
        while try await only()?["state"]?.string != "established" {}
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == false)
        await daemon.stopAndRemove()
    }

    @Test("what is refused to a label is told in the list of services, and does not make the daemon unwell")
    func refusedLabels() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        network.setRefusal(of: "h1", to: DiscoveryError(.notPermitted, "forbidden"))
        let label = RegistrationRequest(try OfferedService(name: "label", type: "_xx._tcp", port: 7))
        await daemon.daemon.registry.offer([label], from: .labels)
        func reason() async throws -> String? {
            try await daemon.get("/v1/registrations")["registrations"]?.array?.first?["reason"]?.string
        }
        while try await reason() != "forbidden" {}
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == false)
        // The same of the configuration does.
        await daemon.daemon.registry.offer([label], from: .configuration)
        while try await daemon.get("/v1/status")["degraded"]?.bool == false {}
        await daemon.stopAndRemove()
    }

    @Test func aQuotaHolds() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), quota: 2)
        for name in ["a", "b"] { _ = try await daemon.post("/v1/registrations", "{\"name\":\"\(name)\",\"port\":7}") }
        let error = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"c","port":7}"#)
        }
        #expect(error?.status == 429)
        await daemon.stopAndRemove()
    }

    /// A script that publishes at every start of the machine repeats itself.
    @Test func whatIsHandedOverTwiceIsThereOnce() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), quota: 2)
        let body = #"{"name":"a","port":7,"txt":{"k":"v"}}"#
        let first = try JSONReader.read(try await daemon.post("/v1/registrations", body))
        let again = try JSONReader.read(try await daemon.post("/v1/registrations", body))
        #expect(first["id"]?.string != nil && again["id"] == first["id"])
        let other = try JSONReader.read(
            try await daemon.post("/v1/registrations", #"{"name":"a","type":"_yy._tcp","port":7}"#))
        #expect(other["id"] != first["id"] && other["name"]?.string == "a")
        await daemon.stopAndRemove()
    }

    @Test func registrationsSurviveARestart() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        _ = try await daemon.post("/v1/registrations", #"{"name":"kept","port":7,"txt":{"b":{"base64":"/wA="}}}"#)
        await daemon.stop()
        let again = try await TestDaemon(engine: try network.addMachine("h2"), directory: daemon.directory)
        let kept = try await again.get("/v1/registrations")["registrations"]?.array
        #expect(kept?.first?["name"]?.string == "kept")
        await again.stopAndRemove()
    }

    @Test func whatCannotBeKeptIsSaidAndKeptLater() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let obstacle = daemon.directory + "/registrations.json.new"
        try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
        let answer = try JSONReader.read(try await daemon.post("/v1/registrations", #"{"name":"a","port":7}"#))
        #expect(answer["warning"]?.string?.contains("not kept over a restart") == true)
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == true)
        try FileManager.default.removeItem(atPath: obstacle)
        await daemon.daemon.registry.saveAgain()
        let status = try await daemon.get("/v1/status")
        #expect(status["degraded"]?.bool == false)
        #expect(try await daemon.get("/v1/registrations")["registrations"]?.array?.first?["warning"]?.string == nil)
        await daemon.stop()
        // A starting daemon reports it before anything is handed over.
        try FileManager.default.removeItem(atPath: daemon.directory + "/registrations.json")
        try FileManager.default.createDirectory(atPath: obstacle + "/x", withIntermediateDirectories: true)
        let next = try await TestDaemon(engine: try network.addMachine("h2"), directory: daemon.directory)
        #expect(try await next.get("/v1/status")["degraded"]?.bool == true)
        await next.stopAndRemove()
    }

    @Test func whatCannotBeReadAtTheStartIsNotLost() async throws {
        let first = try await TestDaemon(engine: try network.addMachine("h1"))
        for name in ["kept", "again"] {
            _ = try await first.post("/v1/registrations", #"{"name":"\#(name)","port":7}"#)
        }
        await first.stop()
        let lease = try WriteLease(first.directory + "/registrations.json")
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), directory: first.directory)
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == true)
        // Registrations handed over meanwhile are published, and replace nothing.
        for name in ["new", "again"] {
            let answer = try JSONReader.read(
                try await daemon.post("/v1/registrations", #"{"name":"\#(name)","port":7}"#))
            #expect(answer["warning"]?.string?.contains("not kept over a restart") == true)
        }
        lease.end()
        await daemon.daemon.registry.saveAgain()
        #expect(try await daemon.get("/v1/status")["degraded"]?.bool == false)
        #expect(try await wanted(daemon) == ["again", "kept", "new"])
        await daemon.stop()
        let next = try await TestDaemon(engine: try network.addMachine("h3"), directory: first.directory)
        #expect(try await wanted(next) == ["again", "kept", "new"])
        await next.stopAndRemove()
    }

    private func wanted(_ daemon: TestDaemon) async throws -> [String] {
        (try await daemon.get("/v1/registrations")["registrations"]?.array ?? []).compactMap { $0["wanted"]?.string }
            .sorted()
    }

    @Test func whatACommandPublishedEndsWithItsConnection() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let client = try RawClient(daemon.path)
        let body = #"{"name":"short","port":7}"#
        await client.write(
            "POST /v1/registrations?attached=1 HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(String(decoding: await client.read() ?? [], as: UTF8.self).contains("201"))
        let id = try #require(
            try await daemon.get("/v1/registrations")["registrations"]?.array?.first?["id"]?.string)
        // Its number is given back only with the client; giving it back twice would free another's.
        shutdown(client.descriptor, Int32(SHUT_RDWR))
        await daemon.daemon.registry.untilWithdrawn(id)
        #expect(try await daemon.get("/v1/registrations")["registrations"]?.array?.isEmpty == true)
        await daemon.stopAndRemove()
    }

    @Test(arguments: [
        "/", "/v1", "/v1/nothing", "/v3/services", "/v1/registrations/x/y", "/v1/services/%ff", "/v1/types?family=x",
    ])
    func otherPathsAreErrors(_ path: String) async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let error = await #expect(throws: ControlError.self) { try await daemon.get(path) }
        #expect(error.map { $0.status == 404 || $0.status == 400 } == true)
        await daemon.stopAndRemove()
    }

    @Test func statusTypesMetricsAndTargetsAreServed() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let publication = other.publish(try OfferedService(name: "m", type: "_prom._tcp", port: 9100))
        _ = try await publication.established()
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        #expect(try await daemon.get("/v1/status")["backend"]?["kind"]?.string == "simulated")
        #expect(try await daemon.get("/v1/types")["types"]?.array?.count == 1)
        let text = String(
            decoding: try await daemon.client.send(ControlClient.Request("GET", "/metrics")), as: UTF8.self)
        #expect(text.contains("# TYPE discoverd_backend_up gauge\ndiscoverd_backend_up 1\n"))
        let groups = try await daemon.get("/v1/prometheus/sd?type=_prom._tcp")
        #expect(groups.array?.first?["targets"]?.strings?.count == 1)
        await publication.withdraw()
        await daemon.stopAndRemove()
    }

    @Test("a request is counted by its resource, whatever a client writes in its path")
    func requestsAreCountedByResource() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let made = try JSONReader.read(await daemon.post("/v1/registrations", #"{"name":"a","port":7}"#))
        let id = try #require(made["id"]?.string)
        _ = try await daemon.get("/v1/registrations/\(id)")
        for target in ["/v1/registrations/anything", "/v1/registrations/else", "/v1/status"] {
            await #expect(throws: ControlError.self) { try await daemon.post(target, "") }
        }
        let text = String(
            decoding: try await daemon.client.send(ControlClient.Request("GET", "/metrics")), as: UTF8.self)
        let series = text.split(separator: "\n").filter { $0.hasPrefix("discoverd_requests_total{") }
        #expect(
            series == [
                #"discoverd_requests_total{path="/other",status="405"} 3"#,
                #"discoverd_requests_total{path="/v1/registrations",status="200"} 1"#,
                #"discoverd_requests_total{path="/v1/registrations",status="201"} 1"#,
            ])
        await daemon.stopAndRemove()
    }

    /// RFC 6762 §21: anyone on the link could otherwise make Prometheus query hosts of a container or a VPN.
    @Test func aTargetIsWhereTheServiceWasSeen() async throws {
        let far = SimulatedInterface(
            NetworkInterface(index: 2, name: "eth0"), link: "lan",
            addresses: [.v4(IPv4Address(bits: 0xAC11_0002)), .v4(IPv4Address(bits: 0xA9FE_AA02))])
        let other = LocalNetwork(engine: try network.addMachine("h1", interfaces: [.loopback, far]))
        let publication = other.publish(try OfferedService(name: "m", type: "_prom._tcp", port: 9100))
        _ = try await publication.established()
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"))
        let services = try await daemon.get("/v1/services?type=_prom._tcp")["services"]?.array
        #expect(services?.first?["endpoints"]?.array?.count == 2)
        #expect(try await daemon.get("/v1/prometheus/sd?type=_prom._tcp").array?.isEmpty == true)
        await publication.withdraw()
        await daemon.stopAndRemove()
    }
}

/// Lines of a stream, read on the test's own connection.
final class Lines {
    private let client: RawClient?
    private var reader = HTTPResponseReader()
    private var splitter = LineSplitter()
    private var pending: [[UInt8]] = []

    /// - Parameter body: sent with POST.
    init(_ path: String, _ target: String, body: String? = nil) async {
        client = try? RawClient(path)
        let head = "\(body == nil ? "GET" : "POST") \(target) HTTP/1.1\r\nHost: x\r\n"
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        await client?.write("\(head)\(length)\r\n\(body ?? "")")
    }

    struct Ended: Error {}

    func next(_ match: (JSONValue) -> Bool) async throws -> JSONValue {
        while true {
            while !pending.isEmpty {
                let json = try JSONReader.read(pending.removeFirst())
                if match(json) { return json }
            }
            guard let bytes = await client?.read(), !bytes.isEmpty else { throw Ended() }
            try reader.received(bytes)
            pending += splitter.received(reader.takeBody()) ?? []
        }
    }

    func close() { if let client { shutdown(client.descriptor, Int32(SHUT_RDWR)) } }
}
