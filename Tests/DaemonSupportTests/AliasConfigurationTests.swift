import DNSSD
import Discovery
import DiscoveryControl
import Testing

@testable import DiscoveryDaemon

@Suite("alias: in the configuration") struct AliasConfigurationTests {
    private func load(_ main: String, _ more: String = "") throws -> [RegistrationRequest] {
        try ConfigurationDirectory(["discoverd.yaml": main, "services.d/more.yaml": more]).load().services
    }

    private func refusal(_ main: String, _ more: String = "") -> String {
        do {
            return "\(try load(main, more))"
        } catch {
            return (error as? ConfigurationError)?.lines.joined(separator: "\n") ?? "\(error)"
        }
    }

    @Test("of the file, of a service, and alone on some interfaces; each is published by itself")
    func places() throws {
        let main = """
            alias: [wiki, shop.wiki, wiki.%h]
            services:
              - {name: web, type: _http._tcp, port: 80, alias: blog, on-conflict: fail, family: ipv4}
              - {alias: [backup.LOCAL], interfaces: [eth0], on-conflict: fail}
            """
        let all = try load(main)
        #expect(
            all.map(\.service.name.text) == [
                "wiki.local", "shop.wiki.local", "wiki.h1.local", "web", "blog.local", "backup.LOCAL",
            ])
        #expect(all.map(\.service.isAlias) == [true, true, true, false, true, true])
        #expect(all.map(\.onConflict) == [.rename, .rename, .rename, .fail, .fail, .fail])
        #expect(all[3].service.host == nil && all[4].service.family == .ipv4)
        #expect(all[5].service.interfaces.patterns == ["eth0"])
    }

    @Test(
        "a service may be on one, of its own or of the file; of its own it is published once, and may be checked here")
    func hosts() throws {
        let main = """
            alias: wiki
            services:
              - {name: web, type: _http._tcp, port: 80, host: wiki.local, check: tcp}
              - {name: blog, type: _http._tcp, port: 81, alias: [blog, news], host: BLOG.local}
              - {name: far, type: _http._tcp, port: 82, host: far.local}
            """
        let all = try load(main)
        #expect(all.map(\.service.name.text) == ["wiki.local", "web", "blog", "news.local", "far"])
        #expect(all.map { $0.service.host?.isAlias } == [true, true, true, true, false])
    }

    @Test("in a zone, alone and beside a service, which may be on one there; a name of local is another one")
    func zones() throws {
        let main = """
            alias: [wiki]
            services:
              - {alias: [shop], domain: example.org, on-conflict: fail}
              - {name: web, type: _http._tcp, port: 80, domain: example.org, alias: [wiki, blog], host: blog.example.org, check: tcp}
              - {name: far, type: _http._tcp, port: 80, domain: example.org, host: wiki.local}
            """
        let all = try load(main).map(\.service)
        #expect(
            all.map(\.name.text) == ["wiki.local", "shop.example.org", "web", "wiki.example.org", "far"])
        #expect(all.map(\.domain.text) == ["local"] + Array(repeating: "example.org", count: 4))
        #expect(all.map(\.isAlias) == [true, true, false, true, false])
        #expect(all[2].host?.isAlias == true && all[4].host?.isAlias == false)
    }

    @Test(
        "what is no name, or is there twice, is refused with its line",
        arguments: [
            ("alias: [local]", "local is the domain"), ("alias: [_http._tcp]", "a service's"),
            ("alias: [a, A]", "A.local is there twice"), ("alias: [\"a\\e\"]", "control character"),
            ("alias: {a: b}", "must be a list"), ("alias: [\(String(repeating: "x", count: 64))]", "64 bytes"),
            ("alias: [a]\nservices: [{alias: [a]}]", "a.local is there already"),
            ("services: [{alias: [a], port: 80}]", "has no name"),
            ("services: [{alias: [büro], domain: example.org}]", "letters, digits and hyphens"),
            ("services: [{alias: [example.org], domain: example.org}]", "is the domain"),
            ("services: [{alias: [a], domain: a..b}, {alias: [a], domain: .}]", "a..b"),
            ("services: [{alias: [a], host: b.local}]", "host"),
            ("services: [{alias: [a], host: b.local, addresses: [10.0.0.9]}]", "alias"),
        ])
    func refused(_ main: String, _ reason: String) {
        let text = refusal(main)
        #expect(text.contains(reason) && text.contains("discoverd.yaml:"), "\(text)")
        #expect(!text.contains("\u{1B}"))
    }

    @Test func atMostSixtyFour() throws {
        let names = (0..<65).map { "a\($0)" }
        #expect(try load("alias: [\(names.dropLast().joined(separator: ", "))]").count == 64)
        #expect(refusal("alias: [\(names.joined(separator: ", "))]").contains("more than 64"))
    }
}
