import Glibc
import Testing

/// The commands with a running daemon: the same output as without it, and what happens when it goes away.
@Suite("Commands through the daemon", .labSlot)
struct DaemonCommandTests {
    @Test("a daemon that is slow is waited for; one that hangs is not passed by without a word")
    func silent() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let service = try await lab.publish("h2", "tony", "9000", "--type", "_silent._tcp")
        let process = try daemon.process
        process.signal(SIGSTOP)
        let slow = try lab.discoverd("h1", "wait", "_silent._tcp", "-v")
        try await slow.line(.stderr, "it looks for the daemon") { $0.contains("looking for the daemon") }
        // How long it is slow is the fault: as on a busy machine. The command waits for it, and has nothing to say meanwhile.
        try await Task.sleep(for: .milliseconds(500))
        process.signal(SIGCONT)
        #expect(try await slow.exit() == .exited(0))
        let words = slow.lines(.stderr)
        #expect(words.contains { $0.contains("the daemon at \(LabDaemon.systemSocket) answers") }, "\(words)")

        process.signal(SIGSTOP)
        let without = try await lab.ask("h1", "wait", "_silent._tcp")
        #expect(without.exit == .exited(0) && without.output.count == 1, "\(without)")
        #expect(
            without.errors.contains { $0.contains("\(LabDaemon.systemSocket) did not answer within 2 s") }, "\(without)"
        )
        let required = try await lab.ask("h1", "ls")
        #expect(required.exit == .exited(69) && required.failure?.contains("did not answer within 5 s") == true)
        #expect(required.errors.contains { $0.contains("systemctl restart discoverd") }, "\(required)")
        let doctor = try await lab.ask("h1", "doctor")
        #expect(doctor.output.contains { $0.hasPrefix("fail\tdaemon\t") }, "\(doctor)")
        process.signal(SIGCONT)
        try await daemon.stop()
        try await service.stop()
        try await lab.stop()
    }

    @Test("every command prints the same through the daemon and with --no-daemon", .labLong)
    func sameOutput() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_witap._tcp]\n")
        let tony = try await lab.avahiPublish("h2", "tony", "_witap._tcp", "9000", "path=/x", "flag")
        let web = try await lab.avahiPublish("h2", "--subtype=_printer._sub._http._tcp", "a \"b\\c", "_http._tcp", "80")
        _ = try await daemon.curl("/v1/services") { try $0.objects("services").count == 2 }
        for arguments in [
            ["browse", "_witap._tcp", "-t"], ["browse", "_witap._tcp", "-r", "-t"], ["browse", "_none._tcp", "-t"],
            ["browse", "--all", "-t"], ["browse", "--all", "-r", "-t"], ["browse", "_printer._sub._http._tcp", "-rt"],
            ["browse", "witap", "--once", "-tr"], ["browse", "witap", "--resolve", "--once", "extra"],
            ["browse", "_witap._tcp", "-r", "-t", "-4"], ["browse", "_witap._tcp", "-r", "-t", "-6"],
            ["browse", "_witap._tcp", "-t", "--interface", "eth*"],
            ["browse", "_witap._tcp", "-t", "--interface", "x"],
            ["browse", "_witap._tcp", "-t", "--domain", "x.example"], ["browse", "_witap._tcp", "--count", "1"],
            ["browse", "_bad"], ["types"], ["types", "--domain", "x.example"], ["domains"], ["resolve", "tony"],
            ["resolve", "nobody", "--timeout", "1"], ["wait", "_witap._tcp"], ["wait", "_http._tcp", "-r"],
            ["wait", "_witap._tcp", "--count", "3", "--timeout", "1"],
            ["connect", "nobody", "--probe", "--timeout", "1"],
        ] {
            for form in [[], ["--json"]] {
                let command = [Built.discoverd] + arguments + form
                async let asked = lab.toEnd("h1", command, within: .seconds(30))
                let direct = try await lab.toEnd("h1", command + ["--no-daemon"], within: .seconds(30))
                let through = try await asked
                #expect(through.exit == direct.exit, "\(arguments + form): \(through) \(direct)")
                #expect(Self.shape(through.output) == Self.shape(direct.output), "\(arguments + form)")
                #expect(through.errors.sorted() == direct.errors.sorted(), "\(arguments + form)")
            }
        }
        let verbose = try await lab.ask("h1", "browse", "_witap._tcp", "-t", "-v")
        #expect(verbose.errors.contains { $0.contains("the daemon at \(LabDaemon.systemSocket) answers") })
        let full = try await lab.toEnd(
            "h1", ["sh", "-c", "\(Built.discoverd) browse witap -t >/dev/full"], within: .seconds(10))
        #expect(full.exit == .exited(74) && full.errors.first?.contains("No space left") == true, "\(full)")
        for publisher in [tony, web] { publisher.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }

    /// Lines sorted, because their order is the network's; without times, which only `connect` prints, and without subtypes: a daemon knows those
    /// that were announced, a command that begins later those that it asks for (`OtherProgramsTests/subtypes`).
    private static func shape(_ lines: [String]) -> [String] {
        lines.map {
            $0.replacing(/"milliseconds":\d+/, with: #""milliseconds":0"#)
                .replacing(/"subtypes":\[[^\]]*\]/, with: #""subtypes":[]"#)
        }.sorted()
    }

    @Test("publish lasts as long as the command; a detached service stays until unpublish")
    func publishing() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let browser = try lab.discoverd("h2", "browse", "_witap._tcp", "--json", "--no-daemon")
        // A port without a listener would eventually cause a warning.
        let server = try lab.exec("h1", "nc", "-lk", "9000")
        defer { server.signal(SIGTERM) }
        let publisher = try await lab.publish("h1", "tony", "9000")
        #expect(try await lab.ask("h1", "ls").output == ["established\ttony\t_witap._tcp\t9000\tattached\t\t"])
        try await browser.json(within: .seconds(20), "tony") { $0.tells("added", "tony") }
        try await publisher.stop()
        try await browser.json(within: .seconds(20), "tony's end") { $0.tells("removed", "tony") }

        let killed = try await lab.publish("h1", "killed", "9000")
        try await browser.json(within: .seconds(20), "killed") { $0.tells("added", "killed") }
        killed.signal(SIGKILL)
        try await browser.json(within: .seconds(20), "killed's end") { $0.tells("removed", "killed") }

        let unpublished = try await lab.publish("h1", "unpublished", "9000")
        #expect(try await lab.ask("h1", "unpublish", "unpublished").exit == .exited(0))
        #expect(try await unpublished.exit() == .exited(1))
        #expect(try await lab.ask("h1", "ls").output.isEmpty)

        let detached = try await lab.ask("h1", "publish", "web", "80", "--type", "_http._tcp", "--detach")
        #expect(detached.exit == .exited(0) && detached.output == ["published web._http._tcp.local port 80"])
        let second = try await lab.ask("h1", "publish", "web", "81", "--type", "_http._tcp", "--detach")
        #expect(second.output == ["published web._http._tcp.local port 81 (changed: port 80 -> 81)"])
        let third = try await lab.ask(
            "h1", "publish", "web", "82", "--type", "_http._tcp", "--detach", "--on-conflict", "fail")
        #expect(third.output == ["published web._http._tcp.local port 82 (changed: port 81 -> 82)"])
        // One that lasts as long as its command is another.
        let running = try lab.discoverd("h1", "publish", "web", "83", "--type", "_http._tcp")
        try await running.line(within: .seconds(20), "its name") { $0.contains("web #2._http._tcp.local port 83") }
        #expect(try await lab.ask("h2", "resolve", "web #2", "_http._tcp").exit == .exited(0))
        let status = try await lab.ask("h1", "status")
        #expect(status.exit == .exited(0) && status.output.contains("services\t2 published"))
        try await running.stop()
        #expect(try await lab.ask("h1", "unpublish", "web", "_http._tcp").exit == .exited(0))
        #expect(try await lab.ask("h1", "unpublish", "web", "_http._tcp").exit == .exited(1))
        // Two of a name, each on a link of its own, are withdrawn together.
        for link in ["eth0", "lo"] {
            let twin = try await lab.ask(
                "h1", "publish", "twin", "83", "--type", "_http._tcp", "--detach", "--interface", link)
            #expect(twin.output == ["published twin._http._tcp.local port 83"], "\(link): \(twin)")
        }
        #expect(try await lab.ask("h1", "unpublish", "twin", "_http._tcp").exit == .exited(0))
        #expect(try await lab.ask("h1", "ls").output.isEmpty)
        try await browser.stop()
        try await daemon.stop()
        let without = try await lab.ask("h1", "ls")
        #expect(without.exit == .exited(69) && without.errors.first?.contains(LabDaemon.systemSocket) == true)
        try await lab.stop()
    }

    @Test("browse -t tells a service on one line while services are being published, with the daemon and without")
    func oneLineEach() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab)
        let publisher = try lab.exec("h1", Lab.publishMany, "200", "many", "_many._tcp")
        for option in [[], ["--no-daemon"], []] {
            let seen = try await lab.toEnd(
                "h1", [Built.discoverd, "browse", "_many._tcp", "-r", "-t"] + option, within: .seconds(30))
            let names = seen.output.map { $0.split(separator: "\t").prefix(2).joined(separator: " ") }
            #expect(names.allSatisfy { $0.hasPrefix("+ many-") } && Set(names).count == names.count)
        }
        try await publisher.line(.stdout, within: .seconds(60), "ready") { $0 == "ready 200" }
        try await publisher.stop()
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("browse -t and types right after avahi-daemon came back include what appeared while it was away")
    func backendCameBack() async throws {
        let lab = try await Lab.start()
        let known = try await lab.avahiPublish("h2", "known", "_known._tcp", "9000")
        let daemon = try await LabDaemon.start(
            on: "h1", of: lab, "finder: avahi\nbrowse: [_witap._tcp, _known._tcp]\n")
        _ = try await daemon.curl("/v1/status") { answer in
            (try answer.json()["warm"] as? [[String: Any]])?.allSatisfy { $0["settled"] as? Bool == true } == true
        }
        #expect(try await lab.ask("h1", "browse", "_witap._tcp", "-t").exit == .exited(1))
        try await lab.avahi("h1", "kill")
        try await daemon.process.line(.stderr, "gone") { $0.contains("nothing publishes now") }
        // Nothing is known, and nothing could say that this is all.
        #expect(try await lab.ask("h1", "browse", "_witap._tcp", "-t").exit == .exited(69))
        // Reports what is known, and that it may be incomplete.
        let partly = try await lab.ask("h1", "browse", "_known._tcp", "-t")
        #expect(partly.exit == .exited(0) && partly.output == ["+\tknown\t_known._tcp\tlocal\teth0"])
        #expect(partly.errors.first?.contains("not everything may be shown: avahi-daemon") == true, "\(partly.errors)")
        let unpublished = try await lab.ask("h1", "publish", "waits", "9001", "--timeout", "1")
        #expect(unpublished.exit == .exited(1) && unpublished.failure?.contains("avahi-daemon") == true)
        let later = try await lab.avahiPublish("h2", "later", "_witap._tcp", "9000")
        // A responder does not repeat for a question what it said a second ago (RFC 6762 §6), and announces everything twice at first
        // (§8.3).
        try await Task.sleep(for: .milliseconds(2_200))
        try await lab.avahi("h1", "start")
        try await daemon.process.line(.stderr, "back") { $0.contains("services are published again") }
        let found = try await lab.ask("h1", "browse", "_witap._tcp", "-t")
        #expect(found.exit == .exited(0) && found.output == ["+\tlater\t_witap._tcp\tlocal\teth0"], "\(found)")
        let types = try await lab.ask("h1", "types")
        #expect(types.exit == .exited(0) && types.output.contains { $0.hasPrefix("_witap._tcp") })
        for process in [known, later] { process.signal(SIGTERM) }
        try await daemon.stop()
        try await lab.stop()
    }

    @Test("SIGKILL of the daemon: browse says so, recovers and shows no loss; publish is published again")
    func daemonGoes() async throws {
        let lab = try await Lab.start()
        let daemon = try await LabDaemon.start(on: "h1", of: lab, "browse: [_witap._tcp]\n")
        let other = try await lab.avahiPublish("h2", "other", "_witap._tcp", "9001")
        let publisher = try lab.discoverd("h1", "publish", "tony", "9000", "--json")
        try await publisher.json(within: .seconds(20), "established") { $0.state == "established" }
        let here = try lab.discoverd("h1", "browse", "_witap._tcp", "-r", "--json")
        let there = try lab.discoverd("h2", "browse", "_witap._tcp", "-r", "--json", "--no-daemon")
        for browser in [here, there] {
            try await browser.json(within: .seconds(20), "settled") { $0.event == "settled" }
        }
        for name in ["tony", "other"] {
            _ = try await daemon.curl("/v1/services?type=_witap._tcp&name=\(name)") {
                try $0.objects("services").count == 1
            }
        }
        try await daemon.killAndRestart()
        try await here.json(within: .seconds(20), "lost") { $0.event == "backend" && $0.state == "lost" }
        try await here.json(within: .seconds(20), "recovered") { $0.event == "backend" && $0.state == "recovered" }
        try await publisher.json(within: .seconds(20), "waiting") { $0.state == "waiting" }
        try await publisher.json(within: .seconds(20), "established again") { $0.state == "established" }
        // A loss would have been reported before this later service: it is held for 3.1 s.
        let late = try await lab.publish("h1", "late", "9002")
        try await late.stop()
        for browser in [here, there] {
            try await browser.json(within: .seconds(20), "late's end") { $0.tells("removed", "late") }
            let removed = browser.lines().filter { $0.contains(#""removed""#) && !$0.contains(#""late""#) }
            #expect(removed.isEmpty)
        }
        other.signal(SIGTERM)
        for process in [here, there, publisher] { try await process.stop() }
        try await daemon.stop()
        try await lab.stop()
    }
}
