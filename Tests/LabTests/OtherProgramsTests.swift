import Foundation
import Testing

/// Independent programs see byte for byte what discoverd publishes, and the reverse.
@Suite("other programs", .labSlot)
struct OtherProgramsTests {
    static let lab = Task { try await Lab.start() }

    static let names = [
        "Tony's \"Büro\" 2.0", "a.b..c.", #"back\slash \046 \\"#, "🖨️ 印刷 ☃", "tab-less; semi:colon,comma %41 #1",
        String(repeating: "é", count: 31) + "x", " leading and trailing ",
    ]

    @Test("RFC 6763 §4.1.1: any name published here is seen by avahi-browse and python-zeroconf", arguments: names)
    func nameOut(_ name: String) async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", name, "9000", "--type", "_out._tcp")
        // Without -p it is not escaped, except that no output has a backslash before dots and backslashes.
        let browsed = try await lab.run("h2", "avahi-browse", "-tpk", "_out._tcp")
        #expect(browsed.contains { $0.hasPrefix("+;eth0;IPv4;\(Self.escaped(name));_out._tcp;") }, "\(browsed)")
        let zeroconf = try await Zeroconf.find(name, "_out._tcp", on: "h2", of: lab)
        #expect(zeroconf.port == 9000)
        try await publisher.stop()
    }

    @Test("RFC 6763 §4.1.1: any name that avahi-publish publishes is seen here, and resolves", arguments: names)
    func nameIn(_ name: String) async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.avahiPublish("h1", name, "_in._tcp", "9000", "k=v")
        let seen = try await lab.ask("h2", "browse", "_in._tcp", "-t", "--json").lines().compactMap(\.service)
        #expect(seen.contains { Array($0.name.utf8) == Array(name.utf8) }, "\(seen)")
        let resolved = try await lab.ask("h2", "resolve", name, "_in._tcp", "--json")
        #expect(resolved.exit == .exited(0), "\(resolved.errors)")
        let service = try #require(try resolved.services().first)
        #expect(service.name == name && service.txt?["k"] == .text("v") && service.endpoints?.count == 2)
        publisher.signal(SIGTERM)
        try await publisher.exit()
    }

    @Test("a name of 63 bytes from python-zeroconf is seen and resolved here")
    func zeroconfIn() async throws {
        let lab = try await Self.lab.value
        let name = String(repeating: "🖨", count: 15) + " ok"
        let publisher = try lab.python("h1", "zc_publish.py", name, "_zc._tcp", "9007", Self.json(Self.strings))
        try await publisher.line(.stdout, "ready") { $0.hasPrefix("ready") }
        let run = try await lab.ask("h2", "browse", "_zc._tcp", "-r", "-t", "--json")
        let service = try #require(try run.lines().first?.service)
        #expect(service.name == name && service.port == 9007)
        #expect(service.txt == Self.values)
        #expect(service.endpoints?.count == 2)
        publisher.signal(SIGTERM)
        try await publisher.exit()
    }

    /// TXT strings with everything that RFC 6763 §6.4 and §6.5 allow.
    static let strings: [[UInt8]] = [
        Array("path=/x y".utf8), Array("empty=".utf8), Array("flag".utf8), Array("Case=Über=🖨".utf8),
        Array("bin=".utf8) + [0, 0xFF, 0x0A, 0x3D, 0x80], Array("long=".utf8) + [UInt8](repeating: 0x61, count: 250),
    ]
    static let values: [String: ServiceLine.Value?] = [
        "path": .text("/x y"), "empty": .text(""), "flag": nil as ServiceLine.Value?, "Case": .text("Über=🖨"),
        "bin": .bytes([0, 0xFF, 0x0A, 0x3D, 0x80]), "long": .text(String(repeating: "a", count: 250)),
    ]

    @Test("RFC 6763 §6: a TXT record published here is seen byte for byte, in its order")
    func txtOut() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish(
            "h1", "text", "9000", "--type", "_txtout._tcp", "--txt", "path=/x y", "--txt", "empty=", "--txt", "flag",
            "--txt", "Case=Über=🖨", "--txt", "long=" + String(repeating: "a", count: 250), "--txt-base64",
            "bin=AP8KPYA=")
        let zeroconf = try await Zeroconf.find("text", "_txtout._tcp", on: "h2", of: lab)
        // Options of the same kind keep their order.
        let order = [0, 1, 2, 3, 5, 4].map { Self.strings[$0] }
        #expect(zeroconf.strings == order)
        let browsed = try await lab.run("h2", "avahi-browse", "-rtpk", "_txtout._tcp")
        let line = try #require(browsed.first { $0.hasPrefix("=;eth0;IPv4;text;") })
        for text in [#""path=/x y""#, #""empty=""#, #""flag""#, #""bin="#] { #expect(line.contains(text), "\(line)") }
        let seen = try await lab.ask("h2", "browse", "_txtout._tcp", "-r", "-t", "--json").lines()
        #expect(seen.first?.service?.txt == Self.values)
        try await publisher.stop()
    }

    @Test("RFC 6763 §6: a TXT record of avahi-publish is seen here byte for byte")
    func txtIn() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.avahiPublish(
            "h1", "text", "_txtin._tcp", "9000", "path=/x y", "empty=", "flag", "Case=Über=🖨", "CASE=second",
            "long=" + String(repeating: "a", count: 250))
        let seen = try await lab.ask("h2", "resolve", "text", "_txtin._tcp", "--json").services()
        var expected = Self.values
        expected["bin"] = nil
        #expect(seen.first?.txt?["Case"] == .text("Über=🖨"))
        #expect(seen.first?.txt?.filter { $0.key != "Case" } == expected.filter { $0.key != "Case" })
        #expect(seen.first?.txt?.count == expected.count)
        publisher.signal(SIGTERM)
        try await publisher.exit()
    }

    @Test("no TXT string at all is one empty string on the wire, and no key here (RFC 6763 §6.1)")
    func noText() async throws {
        let lab = try await Self.lab.value
        let publisher = try await lab.publish("h1", "none", "9000", "--type", "_notxt._tcp")
        let zeroconf = try await Zeroconf.find("none", "_notxt._tcp", on: "h2", of: lab)
        #expect(zeroconf.strings.allSatisfy { $0.isEmpty })
        let seen = try await lab.ask("h2", "resolve", "none", "_notxt._tcp", "--json").services()
        #expect(seen.first?.txt?.isEmpty == true)
        try await publisher.stop()
    }

    @Test("RFC 6763 §7.1: subtypes are found in both directions, and others are not")
    func subtypes() async throws {
        let lab = try await Self.lab.value
        let watching = try lab.discoverd("h2", "browse", "_subs._tcp", "-r", "--json")
        try await watching.line { $0.contains("settled") }
        let ours = try await lab.publish(
            "h1", "ours", "9000", "--type", "_subs._tcp", "--subtype", "_printer", "--subtype", "_scan")
        let theirs = try await lab.avahiPublish(
            "h1", "--subtype=_printer._sub._subs._tcp", "theirs", "_subs._tcp", "9001")
        let plain = try await lab.publish("h1", "plain", "9002", "--type", "_subs._tcp")
        let browsed = try await lab.run("h2", "avahi-browse", "-tpk", "_printer._sub._subs._tcp")
        #expect(Set(browsed.map { $0.split(separator: ";")[3] }) == ["ours", "theirs"], "\(browsed)")
        let printers = try await lab.ask("h2", "browse", "_printer._sub._subs._tcp", "-r", "-t", "--json").lines()
        #expect(printers.compactMap(\.service?.name).sorted() == ["ours", "theirs"])
        for service in printers.compactMap(\.service) {
            #expect(service.subtypes?.first == "_printer" && service.type == "_subs._tcp")
        }
        let scanners = try await lab.ask("h2", "browse", "_scan._sub._subs._tcp", "-t", "--json").lines()
        #expect(scanners.compactMap(\.service?.name) == ["ours"])
        // Whoever looks when it is announced sees all.
        try await watching.line { (try? Line($0))?.service?.subtypes == ["_printer", "_scan"] }
        watching.signal(SIGTERM)
        let all = try await lab.ask("h2", "browse", "_subs._tcp", "-t", "--json").lines()
        #expect(all.compactMap(\.service?.name).sorted() == ["ours", "plain", "theirs"])
        try await ours.stop()
        try await plain.stop()
        theirs.signal(SIGTERM)
        try await theirs.exit()
    }

    /// A name as avahi-browse -p writes it: bytes other than letters, digits, `_` and `-` become `\DDD` (avahi_escape_label).
    private static func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "\\") { return "\\" + String(scalar) }
            if scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) { return String(scalar) }
            if byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") { return String(scalar) }
            return "\\" + String(String(1000 + Int(byte)).dropFirst())
        }.joined()
    }

    private static func json(_ strings: [[UInt8]]) -> String {
        "[" + strings.map { "\"" + Data($0).base64EncodedString() + "\"" }.joined(separator: ",") + "]"
    }
}
