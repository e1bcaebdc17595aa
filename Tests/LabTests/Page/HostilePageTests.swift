import Foundation
import Testing

/// What anyone on the link can say is text on the page, and a crowd is all in it.
@Suite("the page on a hostile network", .labSlot, .serialized)
struct HostilePageTests {
    static let lab = Task { try await Lab.start() }

    private static let markup = [
        "<img src=x onerror=alert(1)>", "<script>document.title='owned'</script>", "\"><svg onload=alert(1)>",
        "javascript:alert(1)", "${7*7}{{7*7}}", "&lt;b&gt;", "<a href=//evil.example>x</a>", "-rf",
        "a'b\"c\\d`id`$(id)!",
    ]
    private static let paths = [
        "//evil.example/", "/\\evil.example", "javascript:alert(1)", "@evil.example/", "/ok?x=<&y=\"#z",
    ]

    @Test("markup, bidi, controls: every name is text, escaped as in the terminal; links lead where the policy permits")
    func hostile() async throws {
        let lab = try await Self.lab.value
        let names = HostileTests.names + Self.markup
        var services = names.map { Self.service($0, "_hostile._tcp", ["raw=" + $0, "<b>=1"]) }
        for (number, path) in Self.paths.enumerated() {
            services.append(Self.service("path \(number)", "_http._tcp", ["path=" + path, "u=root", "user=root"]))
        }
        // 192.0.2.0/24 is no network of this link.
        services.append(Self.service("far", "_http._tcp", [], address: "192.0.2.1", host: "far"))
        let injector = try await lab.inject("h1", Self.json(services))
        let page = try await ShownPage.start(on: "h2", of: lab, "--no-daemon")
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.size(1280, 800)
        try await browser.open(page.url)
        let count = services.count
        try await browser.until(
            "document.querySelectorAll('li.service[data-state=resolved]').length >= \(count)", within: 60)
        try await browser.value("document.querySelectorAll('.name').forEach((name) => name.click())")
        let made = "document.querySelectorAll('main img, main script, main svg:not(#graph svg), iframe').length"
        #expect(try await browser.number(made) == 0)
        #expect(try await browser.text("document.title") == "discoverd")
        let shown = try await browser.texts(LabBrowser.each("li.service .name", "one.textContent"))
        for name in Self.markup { #expect(shown.contains(name), "\(name)") }
        for hidden in ["esc\\u{1B}[31mred", "bidi\\u{202E}txt.exe", "line\\u{A}feed", "zero\\u{200B}width"] {
            #expect(shown.contains(hidden), "\(hidden) in \(shown)")
        }
        let all = try await browser.text("document.getElementById('list').textContent")
        let unseen = "\u{1B}\u{07}\u{202E}\u{2066}\u{200B}\u{FEFF}\u{9B}".unicodeScalars
        #expect(!all.unicodeScalars.contains { unseen.contains($0) })
        let links = try await browser.texts(LabBrowser.each("#list a", "one.href"))
        #expect(!links.isEmpty)
        for link in links { #expect(link.hasPrefix("http://10.77.0.1:9000/") && !link.contains("root@"), "\(link)") }
        #expect(links.contains("http://10.77.0.1:9000/ok?x=%3C&y=%22%23z"), "\(links)")
        let commands = try await browser.texts(LabBrowser.each(".copy", "one.dataset.command"))
        for command in commands { #expect(command.utf8.allSatisfy { 0x20..<0x7F ~= $0 }, "\(command)") }
        // A shell makes the very name of it.
        let meant = try await Self.names(in: commands, by: lab)
        for name in Self.markup + ["esc\u{1B}[31mred", "line\nfeed"] { #expect(meant.contains(name), "\(name)") }
        #expect(try await browser.problems(of: page.origin) == [])
        try await browser.end()
        try await page.stop()
        try await injector.stop()
    }

    @Test("4000 services are all in the document, can be searched, and fit a phone", .onlyInAll, .labLong)
    func crowd() async throws {
        let lab = try await Self.lab.value
        let types = ["_http", "_ipp", "_ssh", "_hap", "_witap", "_smb", "_mqtt", "_raop"].map { "\($0)._tcp" }
        let services = (0..<4000).map { number in
            Self.service(
                "device \(number)", types[number % types.count], ["n=\(number)", "path=/"], host: "host-\(number / 10)")
        }
        let injector = try lab.python("h1", "inject.py", ["--interval", "3", "-4"])
        injector.write(Self.json(services))
        injector.closeInput()
        try await injector.line(.stdout, within: .seconds(60), "ready") { $0 == "ready" }
        let page = try await ShownPage.start(on: "h2", of: lab, "--no-daemon")
        let browser = try await LabBrowser.start(on: "h2", of: lab)
        try await browser.size(1280, 800)
        try await browser.open(page.url)
        try await browser.until("document.querySelectorAll('li.service').length >= 4000", within: 90)
        try await browser.until("document.documentElement.dataset.drawn", within: 60)
        try await browser.type("device 3999", at: "#search")
        try await browser.until("\(LabBrowser.shown) === 1")
        try await browser.type("\u{E00C}", at: "#search")
        try await browser.until("\(LabBrowser.shown) >= 4000")
        for (width, isDark) in [(360, false), (820, true), (3840, false)] {
            try await browser.size(width, 740, isPhone: width == 360, isDark: isDark)
            try await browser.until("innerWidth === \(width)")
            #expect(try await browser.number("document.documentElement.scrollWidth") <= width, "\(width)")
        }
        #expect(try await browser.problems(of: page.origin) == [])
        try await browser.end()
        try await page.stop()
        try await injector.stop()
    }

    private struct Input: Encodable {
        var services: [Injected]
        var records: [Pointer]
    }

    /// A type in the list of all types (RFC 6763 §9).
    private struct Pointer: Encodable {
        var name = "_services._dns-sd._udp.local"
        var type = "PTR"
        var target: String
        var ttl = 4500
    }

    private struct Injected: Encodable {
        struct Bytes: Encodable { var b64: Data }
        var instance: Bytes
        var type: String
        var host: String
        var addresses: [String]
        var txt: [Bytes]
        var ttl = 4500
    }

    private static func service(
        _ name: String, _ type: String, _ txt: [String], address: String = "10.77.0.1", host: String = "evil"
    ) -> Injected {
        Injected(
            instance: Injected.Bytes(b64: Data(name.utf8)), type: type, host: host, addresses: [address],
            txt: txt.map { Injected.Bytes(b64: Data($0.utf8)) })
    }

    private static func json(_ services: [Injected]) -> String {
        let types = Set(services.map(\.type)).map { Pointer(target: "\($0).local") }
        let data = try? JSONEncoder().encode(Input(services: services, records: types))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// The names that a shell makes of `discoverd resolve` commands.
    private static func names(in commands: [String], by lab: Lab) async throws -> [String] {
        let scripts = commands.filter { $0.hasPrefix("discoverd resolve ") }.map { command in
            "set -- \(command.dropFirst("discoverd resolve ".count)); [[ $1 != -- ]] || shift; printf %s \"$1\" | base64 -w0; echo"
        }
        let run = try await lab.bash("h2", (["set -f"] + scripts).joined(separator: "\n"))
        #expect(run.exit == .exited(0) && run.output.count == scripts.count, "\(run.errors)")
        return run.output.compactMap { Data(base64Encoded: $0).map { String(decoding: $0, as: UTF8.self) } }
    }
}
