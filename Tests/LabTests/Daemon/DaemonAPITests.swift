import Foundation
import Glibc
import Testing

/// Every request of the daemon's API, made with curl.
@Suite("The daemon's API with curl", .labSlot)
struct DaemonAPITests {
    @Test("services, types, domains, status, health, metrics; errors are reported")
    func requests() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_witap._tcp]\n")
        let tony = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "9000", "path=/x", "flag")
        let web = try await lab.avahiPublish("h2", "--subtype=_printer._sub._http._tcp", "a b\"c", "_http._tcp", "80")
        _ = try await daemon.curl("/v1/services?type=_witap._tcp") { try $0.objects("services").count == 1 }

        let one = try await daemon.curl("/v1/services?type=_witap._tcp&name=tony")
        let service = try #require(try one.objects("services").first)
        #expect(service["host"] as? String == "h2.local" && service["port"] as? Int == 9000)
        #expect(service["state"] as? String == "resolved")
        #expect((service["endpoints"] as? [[String: Any]])?.count == 2)
        #expect(service["txt"] as? [String: NSObject] == ["path": "/x" as NSString, "flag": NSNull()])
        let short = try await daemon.curl("/v1/services?type=_witap._tcp&resolve=0")
        #expect(try short.objects("services").first?["host"] == nil)
        let family = try await daemon.curl("/v1/services?type=_witap._tcp&family=ipv4&interface=eth*")
        #expect((try family.objects("services").first?["endpoints"] as? [Any])?.count == 1)
        let subtype = try await daemon.curl("/v1/services?type=_printer._sub._http._tcp")
        #expect(try subtype.objects("services").first?["name"] as? String == "a b\"c")
        let all = try await daemon.curl("/v1/services") { try $0.objects("services").count == 2 }
        #expect(all.status == 200)
        let lines = try await daemon.curl("/v1/services?type=_witap._tcp&resolve=0&format=lines")
        #expect(
            lines.text == """
                {"v":1,"event":"added","service":{"name":"tony","type":"_witap._tcp","domain":"local","interfaces":["eth0"]}}
                {"v":1,"event":"settled"}
                """)
        let text = try await daemon.curl("/v1/services?type=_witap._tcp&resolve=0&format=text")
        #expect(text.text == "+\ttony\t_witap._tcp\tlocal\teth0\n# settled")
        let none = try await daemon.curl("/v1/services?type=_none._tcp&wait=0.1")
        #expect(none.text == #"{"v":1,"services":[]}"#)

        let types = try await daemon.curl("/v1/types")
        #expect(Set(try types.objects("types").compactMap { $0["type"] as? String }) == ["_http._tcp", "_witap._tcp"])
        #expect(try await daemon.curl("/v1/domains").json()["domains"] is [Any])
        #expect(try await daemon.curl("/v1/ping").text == #"{"v":1}"#)
        let health = try await daemon.curl("/healthz")
        #expect(try health.status == 200 && health.json()["status"] as? String == "ok")
        let status = try await daemon.curl("/v1/status").json()
        #expect(status["degraded"] as? Bool == false)
        #expect((status["backend"] as? [String: Any])?["state"] as? String == "available")
        let warm = (status["warm"] as? [[String: Any]])?.first { $0["configured"] as? Bool == true }
        #expect(warm?["services"] as? Int == 1 && warm?["settled"] as? Bool == true)
        let metrics = try await daemon.curl("/metrics").text
        #expect(metrics.contains("\ndiscoverd_services{type=\"_witap._tcp\",domain=\"local\"} 1\n"))

        for (target, status) in [
            ("/v1/services?typ=_witap._tcp", 400), ("/v1/services?type=_x", 400), ("/v1/services?wait=soon", 400),
            ("/v1/services?resolve=maybe", 400), ("/v1/services?format=xml", 400), ("/v1/services?family=ipx", 400),
            // Types that the commands refuse too.
            ("/v1/services?type=_._tcp", 400), ("/v1/services?type=witap!._tcp", 400),
            ("/v1/services?type=_wi!tap._tcp", 400),
            ("/v1/services?type=_y._udp", 400), ("/v1/services/watch?type=_._tcp", 400),
            ("/v1/services?type=_wi!tap._tcp&observed=2", 400), ("/v1/services?type=_._tcp&observed=1&wait=0.1", 200),
            ("/v1/services?type=_longer-than-fifteen._tcp", 400),
            ("/v1/services?type=_longer-than-fifteen._tcp&observed=1&wait=0.1", 200),
            ("/v1/services?type=%ff", 400), ("/v1/services?type=_x._tcp&type=_y._tcp", 400),
            ("/v1/nothing", 404), ("/", 404), ("/v1/services/watch?since=1-1-1-1", 410),
        ] {
            let answer = try await daemon.curl(target)
            #expect(answer.status == status && (status == 200 || !answer.reason.isEmpty), "\(target): \(answer)")
        }
        for type in ["_._tcp", "witap!._tcp", "_wi!tap._tcp", "_y._udp", "_longer-than-fifteen._tcp"] {
            let answer = try await daemon.curl("/v1/registrations", "-d", #"{"name":"a","port":9,"type":"\#(type)"}"#)
            #expect(answer.status == 400, "\(type): \(answer)")
        }
        let put = try await daemon.curl("/v1/status", "-X", "PUT", "-d", "x")
        #expect(put.status == 405)
        for publisher in [tony, web] { publisher.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("watch goes on from a cursor without a gap, and says 410 for one of another life of the daemon")
    func watch() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_witap._tcp]\n")
        let one = try await lab.avahiPublish("h2", "one", "_witap._tcp", "9000")
        let first = try daemon.watch("/v1/services/watch?type=_witap._tcp")
        try await first.watched("one") { $0.event == "added" && $0.service?.name == "one" }
        let settled = try await first.watched("settled") { $0.event == "settled" }
        let cursor = try #require(settled.cursor)
        first.signal(SIGKILL)
        // A returning reader gets exactly what happened while no one was reading.
        let two = try await lab.avahiPublish("h2", "two", "_witap._tcp", "9001")
        one.signal(SIGTERM)
        _ = try await daemon.curl("/v1/services?type=_witap._tcp") { answer in
            try answer.objects("services").map { $0["name"] as? String } == ["two"]
        }
        let second = try daemon.watch("/v1/services/watch?type=_witap._tcp&since=\(cursor)")
        try await second.watched("two") { $0.event == "added" && $0.service?.name == "two" }
        let removed = try await second.watched("one's end") { $0.event == "removed" }
        #expect(removed.service?.name == "one")
        #expect(
            second.lines().compactMap { WatchedLine($0)?.event }.filter { $0 != "settled" } == ["added", "removed"])
        try await daemon.killAndRestart()
        try await second.exit()
        let gone = try await daemon.curl("/v1/services/watch?type=_witap._tcp&since=\(cursor)")
        #expect(gone.status == 410 && gone.code == "gone")
        two.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a posted service is published, seen by others, survives SIGKILL, and is withdrawn by DELETE")
    func registrations() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let seen = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_http._tcp"])
        // Observers that hold ends back, as discoverd does, do not notice a quick restart; avahi-browse reports the goodbye.
        let held = try lab.discoverd("h2", "browse", "_http._tcp", "--json")
        let body = #"{"name":"shop","type":"_http._tcp","port":8080,"txt":{"path":"/"},"subtypes":["_printer"]}"#
        let made = try await daemon.curl("/v1/registrations", "-d", body)
        #expect(made.status == 201)
        let registration = try made.json()
        #expect(registration["name"] as? String == "shop" && registration["state"] as? String == "established")
        let id = try #require(registration["id"] as? String)
        try await seen.line(within: .seconds(20), "shop") { $0.hasPrefix("+;") && $0.contains(";shop;") }
        let theirs = try await lab.avahiPublish("h1", "till", "_http._tcp", "80")
        let taken = try await daemon.curl(
            "/v1/registrations", "-d", #"{"name":"till","type":"_http._tcp","port":81,"onConflict":"fail"}"#)
        #expect(taken.status == 409 && taken.code == "name-taken")
        let renamed = try await daemon.curl(
            "/v1/registrations", "-d", #"{"name":"till","type":"_http._tcp","port":81}"#)
        #expect(try renamed.json()["name"] as? String == "till #2")
        theirs.signal(SIGTERM)
        #expect(try await daemon.curl("/v1/registrations", "-d", #"{"name":"x","port":70000}"#).status == 400)

        let killed = ContinuousClock.now
        try await daemon.killAndRestart()
        let kept = try await daemon.curl("/v1/registrations/\(id)") {
            try $0.json()["state"] as? String == "established"
        }
        #expect(try kept.json()["name"] as? String == "shop")
        // The hold is 3.1 s; a machine that takes longer to start it has told the truth.
        let isHeld = ContinuousClock.now - killed < .seconds(3)
        #expect(
            !isHeld || !held.lines().contains { $0.contains(#""removed""#) && $0.contains("shop") }, "\(held.lines())")
        try await held.stop()
        #expect(try await daemon.curl("/v1/registrations/\(id)", "-X", "DELETE").status == 204)
        try await seen.line(within: .seconds(20), "shop's end") { $0.hasPrefix("-;") && $0.contains(";shop;") }
        #expect(try await daemon.curl("/v1/registrations/\(id)", "-X", "DELETE").status == 404)
        #expect(try await daemon.curl("/v1/registrations").objects("registrations").count == 1)

        // With attached=1, a registration lives as long as the connection that made it.
        let attached = try daemon.watch(
            "/v1/registrations?attached=1", "-d", #"{"name":"short","type":"_http._tcp","port":82}"#)
        try await attached.line(within: .seconds(20), "established") { $0.contains(#""state":"established""#) }
        try await seen.line(within: .seconds(20), "short") { $0.hasPrefix("+;") && $0.contains(";short;") }
        attached.signal(SIGKILL)
        try await seen.line(within: .seconds(20), "short's end") { $0.hasPrefix("-;") && $0.contains(";short;") }
        seen.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("a bad configuration is refused with file and line and the old one stays; a good one is taken over")
    func reload() async throws {
        let lab = try await Lab.start()
        let service = "services:\n  - {name: kept, type: _http._tcp, port: 80}\n"
        let daemon = try await LabDaemon.start(on: "h1", of: lab, service)
        let seen = try lab.exec("h2", ["stdbuf", "-oL", "avahi-browse", "-p", "_http._tcp"])
        try await seen.line(within: .seconds(20), "kept") { $0.hasPrefix("+;") && $0.contains(";kept;") }
        try daemon.configure(service + "brows: [_x._tcp]\nlisten: nowhere\n")
        let refused = try await daemon.curl("/v1/reload", "-X", "POST")
        #expect(refused.status == 422 && refused.reason.contains("discoverd.yaml:3: unknown key \"brows\""))
        let health = try await daemon.curl("/healthz")
        #expect(health.status == 503 && health.text.contains("discoverd.yaml:3"))
        let command = try await lab.ask("h1", "reload")
        #expect(command.exit == .exited(78) && command.errors.first?.contains("discoverd.yaml:3") == true)
        #expect(command.errors.dropFirst().first?.contains("discoverd.yaml:4: listen") == true, "\(command)")
        try daemon.configure(service + "  - {name: more, type: _http._tcp, port: 81}\nbrowse: [_http._tcp]\n")
        #expect(try await daemon.curl("/v1/reload", "-X", "POST").status == 204)
        try await seen.line(within: .seconds(20), "more") { $0.hasPrefix("+;") && $0.contains(";more;") }
        #expect(!seen.lines().contains { $0.hasPrefix("-;") })
        #expect(try await daemon.curl("/healthz").status == 200)
        seen.signal(SIGTERM)
        try await daemon.stop()
        try await lab.stop()
    }
}
