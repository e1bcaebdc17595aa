import Foundation
import Testing

/// What anyone on the link can say (RFC 6762 §21) is shown, but never raw.
@Suite("hostile networks", .labSlot)
struct HostileTests {
    static let lab = Task { try await Lab.start(hosts: 3) }

    static let names = [
        "esc\u{1B}[31mred", "bell\u{07}", "tab\there", "line\nfeed", "return\rnow", "del\u{7F}", "c1\u{9B}31m",
        "bidi\u{202E}txt.exe", "isolate\u{2066}x\u{2069}", "zero\u{200B}width", "joiner\u{200D}x", "bom\u{FEFF}",
        "quote\"'`$(id)", "back\\slash\\000", "dots...", "line\u{2028}separator", " ", "%s%n", "\u{E000}private",
        "--help", "tag\u{E0041}", String(repeating: "\u{1B}", count: 63),
    ]

    /// The names as services for inject.py.
    private static func services(_ type: String) throws -> String {
        let list = names.enumerated().map { number, name in
            Injected(
                instance: Injected.Bytes(name),
                type: type,
                host: "evil",
                txt: [Injected.Bytes("n=\(number)"), Injected.Bytes("raw=" + name)]
            )
        }
        return String(decoding: try JSONEncoder().encode(["services": list]), as: UTF8.self)
    }

    @Test("JSON parses and has the exact names and TXT values")
    func exactInJSON() async throws {
        let lab = try await Self.lab.value
        let injector = try await lab.inject("h3", try Self.services("_hostile._tcp"))
        let browser = try lab.discoverd("h2", "browse", "_hostile._tcp", "-r", "--json")
        // The last may come before others, so wait for all of them.
        for name in Self.names { try await Self.present(name, in: browser) }
        let lines = try browser.lines().map { try Line($0) }
        for (number, name) in Self.names.enumerated() {
            let service = lines.compactMap(\.service).last { Array($0.name.utf8) == Array(name.utf8) }
            let txt = service?.txt
            #expect(txt?["n"] == .text("\(number)") && txt?["raw"] == .text(name), "\(name.debugDescription)")
        }
        Self.expectSafe(browser.lines(), terminal: false)
        try await browser.stop()
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("human output shows them escaped, one line each, on a pipe and on a terminal", arguments: [false, true])
    func escapedForPeople(terminal: Bool) async throws {
        let lab = try await Self.lab.value
        let type = terminal ? "_hosttty._tcp" : "_hostpipe._tcp"
        let injector = try await lab.inject("h3", try Self.services(type))
        let count = Self.names.count
        let command = "\(Built.discoverd) browse \(type) -r --count \(count) --timeout 12"
        let run =
            terminal
            ? try await lab.toEnd("h2", ["/usr/bin/script", "-qec", command, "/dev/null"], within: .seconds(15))
            : try await lab.toEnd("h2", ["/bin/bash", "-c", command], within: .seconds(15))
        #expect(run.exit == .exited(0), "\(run.output) \(run.errors)")
        let lines = run.output.map { $0.hasSuffix("\r") && terminal ? String($0.dropLast()) : $0 }
        Self.expectSafe(lines, terminal: terminal)
        #expect(lines.filter { $0.contains(" added") || $0.contains("+") }.count >= count)
        for text in [
            "\\u{1B}[31mred", "\\u{7}", "\\u{A}feed", "\\u{D}now", "\\u{7F}", "\\u{9B}", "\\u{202E}", "\\u{200B}",
        ] {
            #expect(lines.contains { $0.contains(text) }, "\(text) is not in \(lines)")
        }
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("a name with control characters can be resolved, and an error that shows it is safe")
    func resolve() async throws {
        let lab = try await Self.lab.value
        let injector = try await lab.inject("h3", try Self.services("_hostres._tcp"))
        let run = try await lab.ask("h2", "resolve", Self.names[0], "_hostres._tcp")
        #expect(run.exit == .exited(0), "\(run.errors)")
        Self.expectSafe(run.output, terminal: false)
        let none = try await lab.ask("h2", "resolve", "no\u{1B}[2Jbody\u{202E}", "_hostres._tcp", "--timeout", "0.5")
        #expect(none.exit == .exited(1))
        Self.expectSafe(none.errors, terminal: false)
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("RFC 6763 §6.4: a TXT record without sense is read as far as it has one")
    func text() async throws {
        let lab = try await Self.lab.value
        let hex255 = "ff" + String(repeating: "3d", count: 255)
        // =x · 255 times = · k=1 · K=2 · an empty string · k · a value of invalid UTF-8 · flag · flag=late
        let rdata =
            "023d78" + hex255 + "036b3d31" + "034b3d32" + "00" + "016b" + "04763d" + "ff1b" + "04666c6167"
            + "09666c61673d6c617465"
        let cut = "036b3d31" + "20" + "613d"
        let injector = try await lab.inject(
            "h3",
            """
            {"services":[
              {"instance":"odd","type":"_hosttxt._tcp","txt_rdata":{"hex":"\(rdata)"}},
              {"instance":"cut","type":"_hosttxt._tcp","txt_rdata":{"hex":"\(cut)"}},
              {"instance":"none","type":"_hosttxt._tcp","txt_rdata":{"hex":"00"}},
              {"instance":"large","type":"_hosttxt._tcp","txt":[\(
                (0..<30).map { "\"k\($0)=" + String(repeating: "v", count: 200) + "\"" }.joined(separator: ",")
              )]}]}
            """
        )
        let browser = try lab.discoverd("h2", "browse", "_hosttxt._tcp", "-r", "--json")
        var seen: [String: ServiceLine] = [:]
        for name in ["odd", "none", "large"] {
            seen[name] = try await Self.present(name, in: browser)
        }
        let odd = try #require(seen["odd"]?.txt)
        #expect(odd["k"] == .text("1") && odd["v"] == .bytes([0xFF, 0x1B]))
        #expect(odd["flag"] == .some(nil) && odd.count == 3, "\(odd)")
        #expect(seen["none"]?.txt?.isEmpty == true)
        #expect(seen["large"]?.txt?.count == 30)
        Self.expectSafe(browser.lines(), terminal: false)
        try await browser.stop()
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("1000 addresses of one host: at most 32 are kept")
    func manyAddresses() async throws {
        // A lab of its own: this keeps avahi-daemon from answering anyone else for seconds.
        let lab = try await Lab.start()
        let addresses = (0..<1000).map { "\"10.77.\(1 + $0 / 250).\(1 + $0 % 250)\"" }.joined(separator: ",")
        let injector = try await lab.inject(
            "h1",
            #"{"services":[{"instance":"wide","type":"_wide._tcp","host":"wide","addresses":[\#(addresses)]}]}"#
        )
        let run = try await lab.ask("h2", "browse", "_wide._tcp", "-r", "-t", "--timeout", "40", "--json")
        let service = try #require(try run.lines().compactMap(\.service).last)
        let count = service.endpoints?.count ?? 0
        #expect(service.name == "wide" && (1...32).contains(count), "\(count) endpoints")
        let resolved = try await lab.ask("h2", "resolve", "wide", "_wide._tcp", "--timeout", "40", "--json").services()
        #expect((1...32).contains(resolved.first?.endpoints?.count ?? 0))
        injector.signal(SIGTERM)
        try await injector.exit()
        try await lab.stop()
    }

    @Test("a PTR record that points to its own name is no endless search")
    func loop() async throws {
        let lab = try await Self.lab.value
        let injector = try await lab.inject(
            "h3",
            """
            {"records":[{"name":"_ring._tcp.local","type":"PTR","target":"_ring._tcp.local"},
              {"name":"_services._dns-sd._udp.local","type":"PTR","target":"_services._dns-sd._udp.local"}],
             "services":[{"instance":"good","type":"_ring._tcp"}]}
            """
        )
        let run = try await lab.ask("h2", "browse", "_ring._tcp", "-r", "-t", "--timeout", "8", "--json")
        #expect(run.exit == .exited(0))
        #expect(try run.lines().contains { $0.tells("added", "good") })
        #expect(run.output.count < 10, "\(run.output)")
        let types = try await lab.ask("h2", "types", "--timeout", "3")
        #expect(types.output.count < 100)
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("PTR records that lead to another type, another domain or the type itself are no services of this type")
    func elsewhere() async throws {
        let lab = try await Self.lab.value
        let targets = [
            #"["other","_another","_tcp","local"]"#, #"["far","_elsewhere","_tcp","example","com"]"#,
            #""_elsewhere._tcp.local""#, #"["udp","_elsewhere","_udp","local"]"#,
        ]
        let pointers = targets.map { #"{"name":"_elsewhere._tcp.local","type":"PTR","target":\#($0)}"# }
        let injector = try await lab.inject(
            "h3",
            """
            {"records":[\(pointers.joined(separator: ","))],
             "services":[{"instance":"good","type":"_elsewhere._tcp","subtypes":["_sub1"]}]}
            """
        )
        for type in ["_elsewhere._tcp", "_sub1._sub._elsewhere._tcp"] {
            for options in [["-t"], ["-r", "-t"]] {
                let run = try await lab.toEnd(
                    "h2", [Built.discoverd, "browse", type, "--json"] + options, within: .seconds(20))
                #expect(try run.lines().compactMap(\.service?.name) == ["good"], "\(run.output)")
            }
        }
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    @Test("types that RFC 6335 forbids are shown when they are on the wire, and cannot be published")
    func types() async throws {
        let lab = try await Self.lab.value
        let wire = ["_UPPER._tcp", "_sixteen-letters-x._tcp", "_xy._udp", "_1234._tcp"]
        let list = wire.map { #"{"instance":"odd","type":"\#($0)"}"# }.joined(separator: ",")
        let all = wire.map { #""\#($0).local""# } + [#"["_with space\u001b","_tcp","local"]"#]
        let pointers = all.map { #"{"name":"_services._dns-sd._udp.local","type":"PTR","target":\#($0)}"# }
            .joined(separator: ",")
        let injector = try await lab.inject("h3", #"{"services":[\#(list)],"records":[\#(pointers)]}"#)
        let follow = try lab.discoverd("h2", "types", "--follow", "--json")
        for type in wire { try await Self.listed(type, in: follow) }
        Self.expectSafe(follow.lines(), terminal: false)
        try await follow.stop()
        let everything = try await lab.ask("h2", "browse", "--all", "-t", "--json")
        let found = Set(try everything.lines().compactMap(\.service).filter { $0.name == "odd" }.map(\.type))
        #expect(found.isSuperset(of: wire), "\(found)")
        for type in ["_sixteen-letters-x._tcp", "_1234._tcp", "_with space._tcp", "_-x._tcp", "_x-._tcp", "_._tcp"] {
            let run = try await lab.ask("h2", "publish", "tony", "9000", "--type", type)
            #expect(run.exit == .exited(64) && run.output.isEmpty, "\(type)")
            #expect(run.errors.first?.hasPrefix("discoverd: error: ") == true, "\(type): \(run.errors)")
        }
        injector.signal(SIGTERM)
        try await injector.exit()
    }

    /// The newest report of the service, once there is one.
    @discardableResult
    private static func present(_ name: String, in browser: LabProcess) async throws -> ServiceLine {
        let bytes = Array(name.utf8)
        return try await browser.until(name.debugDescription, within: .seconds(12)) { lines in
            lines.compactMap { try? Line($0).service }.last { Array($0.name.utf8) == bytes }
        }
    }

    private static func listed(_ type: String, in follow: LabProcess) async throws {
        try await follow.until(type) { lines in
            lines.first { (try? Line($0))?.type?.lowercased() == type.lowercased() }
        }
    }

    /// Expects that no control, bidirectional control or zero-width character reaches a terminal.
    private static func expectSafe(_ lines: [String], terminal: Bool) {
        #expect(!lines.isEmpty)
        for line in lines {
            // On a terminal the sign is coloured by discoverd's own escapes.
            var text = line
            for colour in ["[31m", "[32m", "[33m", "[0m"] where terminal {
                text = text.replacingOccurrences(of: "\u{1B}" + colour, with: "")
            }
            let raw = text.unicodeScalars.filter { scalar in
                switch scalar.value {
                case 0x09: false
                case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
                default: false
                }
            }
            #expect(raw.isEmpty, "\(raw.map { $0.value }) in \(line.debugDescription)")
        }
    }
}
