import Foundation
import Testing

/// `query`, `host`, and host names in `resolve`, beside programs that others wrote.
@Suite("lookups", .labSlot)
struct LookupTests {
    /// What dig prints of a record, without TTL and spaces.
    private static func data(_ lines: [String]) -> Set<[String]> {
        Set(lines.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }.map { [$0[0]] + $0.dropFirst(2) })
    }

    @Test("query: the records that dig has of the same avahi-daemon")
    func query() async throws {
        let lab = try await Lab.start()
        let publisher = try await lab.avahiPublish("h1", "Front.Door", "_http._tcp", "80", "path=/x y", "flag")
        let service = #"Front\.Door._http._tcp.local"#
        for (name, type) in [("h1.local", "A"), ("h1.local", "AAAA"), (service, "SRV"), (service, "TXT")] {
            let dig = try await lab.run(
                "h2", "dig", "+noall", "+answer", "+time=2", "@10.77.0.1", "-p", "5353", name, type)
            let asked = try await lab.ask("h2", "query", name, type)
            #expect(asked.exit == .exited(0), "\(asked.errors)")
            // The last column is the interface.
            #expect(asked.output.allSatisfy { $0.hasSuffix("\teth0") })
            let found = asked.output.map { String($0.dropLast("\teth0".count)) }
            // avahi-daemon adds a service's host to its answers.
            let ofName = dig.filter { $0.hasPrefix(name) }
            #expect(Self.data(ofName) == Self.data(found) && !found.isEmpty, "\(dig) \(asked.output)")
        }
        // What avahi-daemon says to the group, not the 10 s of an answer to the port that asks (RFC 6762 §6.7).
        let list = try await lab.ask("h2", "query", "h1.local", "A")
        #expect(list.output.first?.hasPrefix("h1.local.\t120\t") == true, "\(list)")
        let text = try await lab.ask("h2", "query", service, "TXT", "--json")
        #expect(text.output.first?.contains(#""ttl":4500"#) == true, "\(text)")
        let number = try await lab.ask("h2", "query", service, "TYPE33", "--json")
        #expect(number.output.first?.contains(#""type":"SRV""#) == true, "\(number)")
        #expect(number.output.first?.contains(#""port":80,"target":"h1.local.""#) == true, "\(number)")
        let types = try await lab.ask("h2", "query", "_http._tcp.local", "PTR")
        #expect(types.output.contains { $0.contains("PTR\t\(service).") }, "\(types)")
        let none = try await lab.ask("h2", "query", "h1", "HINFO", "-t", "1")
        #expect(none.exit == .exited(1) && none.output.isEmpty && none.errors.count == 1, "\(none)")
        for wrong in [["h1.local", "NONSENSE"], ["h1..local", "A"], ["h1.local", "TYPE65536"]] {
            let run = try await lab.toEnd("h2", [Built.discoverd, "query"] + wrong, within: .seconds(8))
            #expect(run.exit == .exited(64), "\(run)")
        }
        publisher.signal(SIGTERM)
        _ = try await publisher.exit()
        try await lab.stop()
    }

    @Test("query: an unknown type in the form of RFC 3597, and what is hostile escaped")
    func unknown() async throws {
        let lab = try await Lab.start()
        let records = #"""
            {"records": [{"name": "odd.local", "type": 65280, "rdata": {"hex": "0102ff"}},
                         {"name": "odd.local", "type": "TXT", "strings": [{"hex": "1b5b324a22"}]}]}
            """#
        let injector = try await lab.inject("h1", records)
        let unknown = try await lab.ask("h2", "query", "odd.local", "65280")
        #expect(unknown.output.first?.contains("TYPE65280\t\\# 3 0102FF\teth0") == true, "\(unknown)")
        let text = try await lab.ask("h2", "query", "odd.local", "TXT")
        #expect(text.output.first?.contains(#""\027[2J\"""#) == true, "\(text)")
        try await injector.stop()
        try await lab.stop()
    }

    @Test("host: both directions, every address with its scope, several at once; resolve of a host")
    func host() async throws {
        let lab = try await Lab.start()
        let both = try await lab.ask("h2", "host", "h1.local", "h2.local", "10.77.0.1")
        #expect(both.exit == .exited(0), "\(both.errors)")
        #expect(both.output.contains("h1.local\t10.77.0.1\teth0") && both.output.contains("h2.local\t10.77.0.2\teth0"))
        #expect(both.output.last == "10.77.0.1\th1.local\teth0", "\(both.output)")
        let six = try await lab.ask("h2", "host", "h1", "-6").output
        let address = try #require(six.first?.split(separator: "\t").dropFirst().first.map(String.init))
        #expect(six.count == 1 && address.hasPrefix("fe80::") && address.hasSuffix("%eth0"), "\(six)")
        let avahi = try await lab.run("h2", "avahi-resolve", "-a", String(address.dropLast("%eth0".count)))
        #expect(avahi.first?.hasSuffix("\th1.local") == true, "\(avahi)")
        let back = try await lab.ask("h2", "host", address, "--json")
        #expect(
            back.output == [
                #"{"v":1,"event":"host","name":"h1.local","address":"\#(address)","interface":"eth0"}"#
            ], "\(back)")
        let elsewhere = try await lab.ask("h2", "host", address.replacing("%eth0", with: "%eth9"), "-t", "1")
        #expect(elsewhere.exit == .exited(1) && elsewhere.output.isEmpty, "\(elsewhere)")
        let some = try await lab.ask("h2", "host", "nosuch.local", "h1.local", "-4", "-t", "1")
        #expect(some.exit == .exited(1) && some.output == ["h1.local\t10.77.0.1\teth0"], "\(some)")
        #expect(some.failure?.contains("nosuch.local") == true && some.errors.count == 1, "\(some)")
        let resolved = try await lab.ask("h2", "resolve", "h1.local", "-4")
        #expect(resolved.exit == .exited(0) && resolved.output == ["h1.local\t10.77.0.1\teth0"], "\(resolved)")
        let missing = try await lab.ask("h2", "resolve", "nosuch.local", "--timeout", "1")
        #expect(missing.exit == .exited(1) && missing.failure?.contains("no host nosuch.local") == true, "\(missing)")
        let word = try await lab.ask("h2", "resolve", "h1", "--timeout", "1")
        #expect(
            word.exit == .exited(1) && word.errors.contains { $0.contains("discoverd resolve --host h1") }, "\(word)")
        try await lab.stop()
    }

    @Test("a DNS server that is silent takes nothing from what the link says; where nothing is found at all it is 69")
    func silentServer() async throws {
        let lab = try await Lab.start()
        func resolve(_ hosts: String) async throws -> Lab.Run {
            let script = """
                printf 'nameserver 10.77.0.99\\noptions timeout:1 attempts:1\\n' >/run/resolv.conf
                mount --bind /run/resolv.conf /etc/resolv.conf; '\(Built.discoverd)' resolve -4 --host \(hosts)
                """
            return try await lab.toEnd(
                "h2", ["/usr/bin/unshare", "-m", "/bin/bash", "-c", script], within: .seconds(20))
        }
        for hosts in ["h1.local www.example.org", "www.example.org h1.local"] {
            let some = try await resolve(hosts)
            #expect(some.exit == .exited(1) && some.output == ["h1.local\t10.77.0.1\teth0"], "\(some)")
            #expect(some.failure?.contains("www.example.org: ") == true && some.errors.count == 1, "\(some)")
        }
        let none = try await resolve("nosuch.local www.example.org")
        #expect(none.exit == .exited(69) && none.output.isEmpty, "\(none)")
        #expect(none.errors.contains { $0.contains("no host nosuch.local answered") }, "\(none)")
        #expect(!none.errors.contains { $0.contains("nothing finds") }, "\(none)")
        try await lab.stop()
    }

    @Test("without avahi-daemon on the asking host, and without any link")
    func bare() async throws {
        let lab = try await Lab.start("--no-avahi", "h2")
        let run = try await lab.ask("h2", "host", "h1.local", "-4")
        #expect(run.output == ["h1.local\t10.77.0.1\teth0"], "\(run)")
        try await lab.run("h2", "ip", "link", "set", "eth0", "down")
        try await lab.run("h2", "ip", "link", "set", "lo", "down")
        let none = try await lab.ask("h2", "query", "h1.local", "A")
        #expect(none.exit == .exited(69) && none.output.isEmpty, "\(none)")
        try await lab.stop()
    }
}
