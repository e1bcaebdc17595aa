import DNSSD
import Glibc
import Testing

@Suite("InterfaceFilter")
struct InterfaceFilterTests {
    @Test(
        "Patterns that include and patterns that exclude",
        arguments: [
            ([], "eth0", true), (["en*"], "enp3s0", true), (["en*"], "eth0", false), (["!docker*"], "eth0", true),
            (["!docker*"], "docker0", false), (["en*", "wl*"], "wlan0", true), (["en*", "!en1"], "en1", false),
            (["!en1", "en*"], "en1", false), (["!en1", "en*"], "en2", true), (["!en1", "en*"], "lo", false),
            (["*"], "", true),
            (["?"], "", false), (["eth[0-9]"], "eth7", true), (["eth[0-9]"], "ethx", false),
            (["eth[!0-9]"], "ethx", true),
            (["eth[!0-9]"], "eth1", false), (["[]a]"], "]", true), (["[!]a]"], "]", false), (["[a-]"], "-", true),
            (["[-a]"], "-", true),
            (["br-????????"], "br-0123abcd", true), (["a\\*"], "a\\b", true), (["ü?"], "üx", true),
            (["eth0"], "ETH0", false),
            (["eth0"], "eth0 ", false), (["**"], "x", true), (["a*b*c"], "aXbYc", true), (["a*b*c"], "aXbY", false),
            (["!!x"], "!x", false),
            (["!!x"], "x", true), (["[[]"], "[", true), (["e]"], "e]", true),
        ] as [([String], String, Bool)]
    )
    func allows(patterns: [String], name: String, expected: Bool) throws {
        let filter = try InterfaceFilter(patterns)
        #expect(filter.allows(name) == expected)
        #expect(filter.patterns == patterns)
    }

    @Test func all() throws {
        #expect(InterfaceFilter.all.allows("anything") && InterfaceFilter.all.allows(""))
        #expect(try InterfaceFilter([]) == .all)
    }

    @Test(
        "Patterns that are refused, and why",
        arguments: [
            ("", "empty"), ("!", "empty"), (String(repeating: "a", count: 65), "64 bytes"), ("eth[0-9", "no ]"),
            ("[", "no ]"),
            ("[]", "no ]"), ("[!]", "no ]"), ("[z-a]", "backwards"), ("[a-", "no ]"), ("\u{1B}[", "no ]"),
            ("[\u{202E}-\u{1B}]", "backwards"),
        ]
    )
    func refused(pattern: String, fragment: String) {
        let error = refusal { () throws(DiscoveryError) in try InterfaceFilter(["eth0", pattern]) }
        #expect(error?.code == .invalidInterface)
        #expect(
            error.map { $0.message.contains(fragment) && isSafe($0.message) } == true,
            "\(error?.message ?? "accepted")"
        )
    }

    @Test func tooManyPatterns() throws {
        #expect(try InterfaceFilter(Array(repeating: "a", count: 64)).allows("a"))
        #expect(refusal { () throws(DiscoveryError) in try InterfaceFilter(Array(repeating: "a", count: 65)) } != nil)
    }

    @Test("fnmatch of the C library agrees")
    func systemAgrees() throws {
        var generator = SeededGenerator(seed: 10)
        let parts = ["*", "?", "a", "b", "[ab]", "[!a]", "[a-b]", "c", "-", "[]b]"]
        for _ in 0..<40_000 {
            var pattern = ""
            for _ in 0..<Int.random(in: 1...7, using: &generator) {
                pattern += parts.randomElement(using: &generator) ?? ""
            }
            var name = ""
            for _ in 0..<Int.random(in: 0...7, using: &generator) {
                name += ["a", "b", "c", "-", "]"].randomElement(using: &generator) ?? ""
            }
            #expect(
                try InterfaceFilter([pattern]).allows(name) == (fnmatch(pattern, name, 0) == 0),
                "\(pattern) \(name)"
            )
        }
    }

    @Test("Many stars take no longer than the lengths multiplied", .timeLimit(.minutes(5)))
    func stars() throws {
        let filter = try InterfaceFilter([String(repeating: "*a", count: 31) + "*b"])
        #expect(!filter.allows(String(repeating: "a", count: 20_000)))
    }

    @Test(arguments: absurdTexts) func nothingTraps(text: String) {
        if let filter = try? InterfaceFilter([text]) { _ = filter.allows(text) }
        _ = InterfaceFilter.all.allows(text)
    }
}
