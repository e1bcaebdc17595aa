import Foundation
import Testing

/// The commands other than `browse` and `publish`, and the options that all share.
@Suite("commands", .labSlot)
struct CommandTests {
    static let lab = Task { try await Lab.start() }

    @Test("types lists each type once; --follow tells what comes and goes")
    func types() async throws {
        let lab = try await Self.lab.value
        let follow = try lab.discoverd("h2", "types", "--follow", "--json")
        try await follow.json("settled") { $0.event == "settled" }
        let one = try await lab.publish("h1", "one", "1", "--type", "_listed._tcp")
        let two = try await lab.publish("h1", "two", "2", "--type", "_listed._tcp")
        try await follow.json("added") { $0.event == "added" && $0.type == "_listed._tcp" && $0.interfaces == ["eth0"] }
        let listed = try await lab.ask("h2", "types")
        #expect(listed.exit == .exited(0))
        #expect(listed.output.filter { $0 == "_listed._tcp\tlocal\teth0" }.count == 1, "\(listed.output)")
        try await one.stop()
        try await two.stop()
        try await follow.stop()
    }

    @Test("domains ends by itself, with 0 or 1")
    func domains() async throws {
        let lab = try await Self.lab.value
        let run = try await lab.ask("h2", "domains", "--json", within: .seconds(8))
        let lines = try run.lines()
        let hasDomains = lines.contains { $0.event == "added" }
        #expect(run.exit == .exited(hasDomains ? 0 : 1) && run.errors.isEmpty == hasDomains)
        // The machine's DNS servers are not reached from the lab.
        #expect(
            lines.last?.event == "settled"
                && lines.allSatisfy { ["settled", "degraded"].contains($0.event) || $0.domain != nil })
    }

    @Test("wait ends when --count services are there, and prints them")
    func wait() async throws {
        let lab = try await Self.lab.value
        let waiting = try lab.discoverd("h2", "wait", "_awaited._tcp", "--count", "2", "--json", "-r")
        let first = try await lab.publish("h1", "b", "1", "--type", "_awaited._tcp")
        let one = try await lab.ask("h2", "wait", "_awaited._tcp", "--json")
        #expect(one.exit == .exited(0))
        #expect(try one.services().map(\.name) == ["b"])
        let late = try await lab.ask("h2", "wait", "_awaited._tcp", "--count", "2", "--timeout", "3")
        #expect(late.exit == .exited(1) && late.output.isEmpty && late.errors[0].contains("1 of 2"), "\(late.errors)")
        #expect(waiting.lines().isEmpty)
        let second = try await lab.publish("h1", "a", "2", "--type", "_awaited._tcp")
        #expect(try await waiting.exit() == .exited(0))
        let services = try waiting.lines().map { try ServiceLine($0) }
        #expect(services.map(\.name) == ["a", "b"] && services.allSatisfy { $0.state == "resolved" })
        try await first.stop()
        try await second.stop()
    }

    @Test("browse --all has the services of every type; --count and --timeout end it")
    func all() async throws {
        let lab = try await Self.lab.value
        let one = try await lab.publish("h1", "one", "1", "--type", "_alla._tcp")
        let two = try await lab.publish("h1", "two", "2", "--type", "_allb._udp", "--subtype", "_sub")
        let run = try await lab.ask("h2", "browse", "--all", "-r", "-t", "--json")
        #expect(run.exit == .exited(0))
        let services = try run.lines().compactMap(\.service)
        #expect(services.filter { $0.type == "_alla._tcp" }.map(\.name) == ["one"])
        #expect(services.filter { $0.type == "_allb._udp" }.map(\.name) == ["two"])
        #expect(try run.lines().last?.event == "settled")
        // Prints what is known while waiting for the rest, and not all at its end.
        var waited = 0.0
        for _ in 0..<5 where waited < 0.05 {
            let timed = try await lab.bash(
                "h2",
                "$discoverd browse --all -rt | while read -r line; do echo $EPOCHREALTIME; done; echo $EPOCHREALTIME")
            let times = timed.output.compactMap { Double($0) }
            waited = (times.last ?? 0) - (times.first ?? 0)
        }
        #expect(waited > 0.05)
        let counted = try await lab.ask("h2", "browse", "--all", "--count", "2")
        #expect(counted.exit == .exited(0) && counted.output.count >= 2)
        let timed = try await lab.ask("h2", "browse", "_alla._tcp", "--timeout", "4")
        #expect(timed.exit == .exited(0) && timed.output.count == 1, "\(timed)")
        #expect(timed.duration > .milliseconds(3950) && timed.duration < .seconds(6), "\(timed.duration)")
        try await one.stop()
        try await two.stop()
    }

    @Test("a list whose time is over before it is complete says so, and so does an empty one")
    func cutShort() async throws {
        let lab = try await Self.lab.value
        // No one answers: that there is nothing is known after more than a second.
        for arguments in [["browse", "_cut._tcp", "-t"], ["browse", "_cut._tcp", "-r", "-t"], ["types"]] {
            let run = try await lab.toEnd(
                "h2", [Built.discoverd] + arguments + ["--timeout", "0.05", "--json"], within: .seconds(8))
            let events = try run.lines().map(\.event)
            #expect(run.exit == .exited(events == ["degraded"] ? 1 : 0), "\(run)")
            #expect(events.last == "degraded" && !events.contains("settled"), "\(run)")
            #expect(run.errors.contains { $0.contains("not everything may be shown: ") }, "\(run)")
        }
        let text = try await lab.ask("h2", "browse", "_cut._tcp", "-t", "--timeout", "0.05")
        #expect(text.exit == .exited(1) && text.output.isEmpty, "\(text)")
        #expect(text.errors.contains { $0.contains("not everything may be shown: ") }, "\(text)")
    }

    @Test("the forms of a type and of a name mean the same")
    func forms() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "Form. 1", "9000", "--type", "forms")
        for form in ["_forms._tcp", "_forms._tcp.local.", "_forms._tcp.local", "forms", "_FORMS._TCP"] {
            let run = try await lab.ask("h2", "browse", form, "-t", "--json")
            #expect(try run.lines().compactMap(\.service?.name) == ["Form. 1"], "\(form)")
        }
        for name in [["Form. 1", "forms"], [#"Form\.\0321._forms._tcp.local"#], [#"Form\. 1._forms._tcp.local."#]] {
            let run = try await lab.toEnd(
                "h2", [Built.discoverd, "resolve", "--json"] + name, within: .seconds(8))
            #expect(try run.services().first?.name == "Form. 1", "\(name): \(run.errors)")
        }
        let card = try await lab.ask("h2", "resolve", "Form. 1", "_forms._tcp")
        for line in ["name\tForm. 1", "type\t_forms._tcp", "host\th1.local", "port\t9000"] {
            #expect(card.output.contains(line), "\(card.output)")
        }
        try await publisher.stop()
    }

    @Test("-4 and -6 leave one family; another domain has nothing")
    func families() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "fam", "9000", "--type", "_fam._tcp")
        for (option, family) in [("-4", "ipv4"), ("-6", "ipv6")] {
            let browsed = try await lab.ask("h2", "browse", "_fam._tcp", option, "-r", "-t", "--json").lines()
            #expect(browsed.compactMap(\.service).first?.endpoints?.map(\.family) == [family])
            let resolved = try await lab.ask("h2", "resolve", "fam", "_fam._tcp", option, "--json").services()
            #expect(resolved.first?.endpoints?.map(\.family) == [family])
        }
        // No DNS server answers in this lab.
        let other = try await lab.ask("h2", "browse", "_fam._tcp", "-t", "--domain", "example.com")
        #expect(other.exit == .exited(69) && other.output.isEmpty)
        #expect(other.errors.contains { $0.contains("DNS server") }, "\(other.errors)")
        try await publisher.stop()
    }

    @Test("without a type the only service of a name is meant; several are listed")
    func onlyOne() async throws {
        let lab = try await Self.lab.value
        let one = try await lab.publish("h1", "only", "80", "--type", "_onlya._tcp")
        let found = try await lab.ask("h2", "resolve", "only", "--json")
        #expect(try found.services().map(\.type) == ["_onlya._tcp"], "\(found.errors)")
        let two = try await lab.publish("h1", "only", "81", "--type", "_onlyb._udp")
        let several = try await lab.ask("h2", "resolve", "only")
        #expect(several.exit == .exited(64) && several.output.isEmpty)
        for type in ["_onlya._tcp", "_onlyb._udp"] { #expect(several.errors.contains("  only.\(type).local")) }
        // A command that connects skips services without connections.
        let probe = try await lab.ask("h2", "connect", "only", "--probe", "--json")
        #expect(probe.output.first?.contains(#""type":"_onlya._tcp""#) == true, "\(probe)")
        try await one.stop()
        try await two.stop()
    }

    @Test("without a type one of _witap._tcp is meant if it answers, whether its host lists its types or not")
    func usualType() async throws {
        let lab = try await Self.lab.value
        let service = #"{"instance":"unlisted","type":"_witap._tcp","host":"unlisted","addresses":["10.77.0.1"]}"#
        let injector = try await lab.inject("h1", #"{"services":[\#(service)]}"#)
        let found = try await lab.ask("h2", "resolve", "unlisted", "--json")
        #expect(try found.services().map(\.type) == ["_witap._tcp"], "\(found)")
        try await injector.stop()

        let web = try await lab.publish("h1", "both", "80", "--type", "_usual._tcp")
        let player = try await lab.publish("h1", "both", "81", "--type", "_witap._tcp")
        #expect(try await lab.ask("h2", "resolve", "both", "--json").services().map(\.type) == ["_witap._tcp"])
        for process in [web, player] { try await process.stop() }
    }

    @Test("arguments that are not UTF-8: TXT values and programs keep their bytes, names are refused")
    func bytes() async throws {
        let lab = try await Self.lab.value
        let refused = try await lab.bash("h1", #"$discoverd publish $'K\xfcche' 9000"#)
        #expect(refused.exit == .exited(64) && refused.errors.first?.contains(#"K\xFCche"#) == true, "\(refused)")
        let script = #"""
            exec $discoverd publish bytes 9000 --type _bytes._tcp --txt $'k=K\xfcche' -- \
                bash -c 'printf "%s" "$1" | od -An -tx1; sleep 1000' x $'K\xfcche'
            """#
        let publisher = try lab.exec("h1", ["/bin/bash", "-c", "discoverd='\(Built.discoverd)'; \(script)"])
        try await publisher.line(.stdout, "the bytes of the program") { $0.contains("4b fc 63 68 65") }
        let seen = try await lab.ask("h2", "resolve", "bytes", "_bytes._tcp", "--json")
        #expect(seen.output.first?.contains(#""txt":{"k":{"base64":"S/xjaGU="}}"#) == true, "\(seen)")
        publisher.signal(SIGTERM)
        _ = try await publisher.exit()
    }

    @Test("a name that begins with a hyphen follows --")
    func hyphen() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "--type", "_dash._tcp", "--", "-dash", "9000")
        let seen = try await lab.ask("h2", "resolve", "--json", "--", "-dash", "_dash._tcp")
        #expect(try seen.services().map(\.name) == ["-dash"], "\(seen.errors)")
        try await publisher.stop()
    }

    @Test("no interface of that name: that is said")
    func noInterface() async throws {
        let lab = try await Self.lab.value
        let run = try await lab.ask("h1", "browse", "_any._tcp", "-t", "--interface", "nosuch*")
        #expect(
            run.exit == .exited(1) && run.errors.contains { $0.contains("'nosuch*'") && $0.contains("eth0") }, "\(run)")
    }

    @Test("doctor: 0 where all is well")
    func doctor() async throws {
        let lab = try await Self.lab.value
        let run = try await lab.ask("h1", "doctor")
        #expect(run.exit == .exited(0) && run.errors.isEmpty)
        #expect(
            run.output.contains { $0.hasPrefix("ok\tavahi\t") } && run.output.contains { $0.hasPrefix("ok\tdbus\t") })
        #expect(!run.output.contains { $0.hasPrefix("fail") })
        let json = try await lab.ask("h1", "doctor", "--json")
        #expect(json.output.allSatisfy { $0.hasPrefix(#"{"v":1,"check":""#) })
        let checks = run.output.map { $0.split(separator: "\t").dropFirst().first ?? "" }
        let same = json.output.map { $0.firstMatch(of: /"check":"([^"]*)"/)?.output.1 ?? "" }
        // Commands of other tests on this host come and go: each has a line.
        #expect(Set(same) == Set(checks), "\(run) \(json)")
    }

    @Test("help for every command, with examples; completions that shells accept")
    func help() async throws {
        let lab = try await Self.lab.value
        for command in ["browse", "types", "domains", "resolve", "publish", "wait", "doctor"] {
            let run = try await lab.ask("h1", command, "--help")
            #expect(run.exit == .exited(0) && run.output.contains { $0.contains("Examples:") }, "\(command)")
        }
        for shell in ["bash", "zsh", "fish"] {
            let run = try await lab.ask("h1", "--generate-completion-script", shell)
            #expect(run.exit == .exited(0) && run.output.count > 20)
        }
        #expect(try await lab.bash("h1", "$discoverd --generate-completion-script bash | bash -n").exit == .exited(0))
        let version = try await lab.ask("h1", "--version")
        #expect(version.exit == .exited(0) && version.output.first?.contains("discoverd") == true)
    }
}
