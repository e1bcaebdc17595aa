import Foundation
import Glibc
import Testing

@testable import DiscoveryDaemon

@Suite struct HostileConfigurationTests {
    @Test func atMost256KiB() throws {
        let directory = try ConfigurationDirectory()
        try directory.write("discoverd.yaml", [UInt8](repeating: UInt8(ascii: "\n"), count: 256 * 1024))
        #expect(directory.fault() == nil)
        try directory.write("discoverd.yaml", [UInt8](repeating: UInt8(ascii: "\n"), count: 256 * 1024 + 1))
        #expect(directory.fault() == "discoverd.yaml: larger than 256 KiB")
    }

    @Test func brokenUTF8HasItsLine() throws {
        let directory = try ConfigurationDirectory()
        try directory.write("discoverd.yaml", Array("backend: auto\nbrowse: [".utf8) + [0xC3, 0x28])
        #expect(directory.fault() == "discoverd.yaml:2: not UTF-8")
    }

    /// Nested more deeply than any stack could follow.
    @Test(arguments: ["[", "{a: ", "- ", "? "]) func deepNesting(_ opening: String) async throws {
        let text = String(repeating: opening, count: 250_000 / opening.utf8.count)
        let fault = try await Task { try ConfigurationDirectory(["discoverd.yaml": text]).fault() }.value
        #expect(fault?.hasPrefix("discoverd.yaml:1: ") ?? false)
    }

    @Test(arguments: ["browse: \(String(repeating: "[", count: 20))\(String(repeating: "]", count: 20))\n"])
    func deepButValid(_ text: String) throws {
        #expect(
            try ConfigurationDirectory(["discoverd.yaml": text]).fault()
                == "discoverd.yaml:1: nested deeper than 16 levels")
    }

    /// Billion laughs.
    @Test func aliasBombs() throws {
        var text = "a0: &a0 x\n"
        for level in 1...30 { text += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
        text += "? *a30\n: y\n"
        #expect(
            try ConfigurationDirectory(["discoverd.yaml": text]).fault()
                == "discoverd.yaml:1: anchors and aliases (& and *) are not supported")
    }

    @Test func namedPipesAndDirectoriesAreNotRead() throws {
        let directory = try ConfigurationDirectory()
        #expect(mkfifo(directory.path + "/discoverd.yaml", 0o600) == 0)
        #expect(directory.fault() == "discoverd.yaml: not a regular file")
        let other = try ConfigurationDirectory()
        #expect(mkdir(other.path + "/services.d/a.yaml", 0o700) == 0)
        #expect(other.fault() == "services.d/a.yaml: not a regular file")
    }

    @Test func aMutatedExampleIsReadOrRefused() throws {
        let example = Array(
            """
            backend: auto
            browse: [_http._tcp, "_xx._udp"]
            services:
              - {name: "a %h", type: _http._tcp, port: 80, txt: {a: 1, b: ~}, check: {what: tcp, interval: 5s}}
            """.utf8)
        var generator = SystemRandomNumberGenerator()
        let directory = try ConfigurationDirectory()
        for _ in 0..<2000 {
            var bytes = example
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let root = try? YAMLSource.parse(bytes, file: "f")
            guard root != nil else { continue }
            try directory.write("discoverd.yaml", bytes)
            #expect(directory.fault()?.hasPrefix("discoverd.yaml") ?? true)
        }
    }
}
