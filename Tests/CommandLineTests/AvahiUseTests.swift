#if Commands
import DiscoverySystem
import Testing

@testable import DiscoverdCommands

/// What the old words of what publishes and finds are now: all nine pairs, and a file that has them.
@Suite struct AvahiUseTests {
    static let rows: [(AvahiUse.Backend, AvahiUse.Finder, AvahiUse, AvahiUse.Finder?)] = [
        (.auto, .auto, .auto, nil), (.auto, .wire, .auto, .wire), (.auto, .avahi, .auto, .avahi),
        (.system, .auto, .always, nil), (.system, .wire, .always, .wire), (.system, .avahi, .always, .avahi),
        (.wire, .auto, .never, nil), (.wire, .wire, .never, nil), (.wire, .avahi, .never, .avahi),
    ]

    @Test(arguments: rows)
    func ofOld(_ row: (backend: AvahiUse.Backend, finder: AvahiUse.Finder, use: AvahiUse, left: AvahiUse.Finder?))
        throws
    {
        let now = try #require(AvahiUse.ofOld[AvahiUse.Old(row.backend, row.finder)])
        #expect(now.use == row.use && now.finder == row.left)
        #expect(AvahiUse(row.backend) == row.use && row.use.backend == row.backend)
        let text =
            "# mine\nbackend: \(row.backend.rawValue)  # said\nbrowse: [_a._tcp]\nfinder: '\(row.finder.rawValue)'\n"
        let keys = try ConfigurationKeys(Array(text.utf8))
        #expect(
            String(decoding: keys.bytes, as: UTF8.self)
                == "# mine\navahi: \(row.use.rawValue)  # said\nbrowse: [_a._tcp]\n")
        #expect(keys.changes.count == 3 && (keys.loss == nil) == (row.left == nil))
        #expect(try ConfigurationKeys(keys.bytes).changes == [])
    }

    @Test func files() throws {
        func rewritten(_ text: String) throws -> String {
            String(decoding: try ConfigurationKeys(Array(text.utf8)).bytes, as: UTF8.self)
        }
        #expect(try rewritten("backend: private\r\nfinder:\r\nreload: auto\r\n") == "avahi: never\r\nreload: auto\r\n")
        #expect(try rewritten("backend: auto\nfinder: auto # why\n") == "avahi: auto # why\n")
        #expect(try rewritten("backend: auto # one\r\nfinder: auto # two\r\n") == "avahi: auto # one # two\r\n")
        #expect(try rewritten("  backend: wire\nbackends: 1\n") == "  backend: wire\nbackends: 1\n")
        let line = "# yaml-language-server: $schema=/s.json"
        let keys = try ConfigurationKeys(Array("backend: wire\n".utf8), modeline: line)
        #expect(String(decoding: keys.bytes, as: UTF8.self) == "\(line)\navahi: never\n")
        #expect(keys.changes == ["- backend: wire", "+ avahi: never", "+ \(line)"])
        #expect(try ConfigurationKeys(keys.bytes, modeline: line).changes.isEmpty, "it has one")
        for bad in ["backend: other\n", "avahi: auto\nfinder: wire\n", "finder: wire\nfinder: auto\n"] {
            #expect(throws: ConfigurationKeys.Unclear.self) { try rewritten(bad) }
        }
    }

    @Test func hints() {
        #expect(CommandWords(["publish", "a", "1", "--backend", "private"]).hints[0].contains("'--avahi never'"))
        #expect(
            CommandWords(["browse", "--backend=system"]).hints[0].hasPrefix(
                "'--backend system' is now '--avahi always'"))
    }
}
#endif
