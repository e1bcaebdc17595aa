import DNSSD
import DiscoverySystem
import Foundation
import Testing

@testable import UnicastEngine

@Suite("/etc/resolv.conf")
struct ResolverSettingsTests {
    @Test("Servers with scopes, at most three; the last search line; options")
    func all() throws {
        let settings = ResolverSettings(
            parsing: """
                # nameserver 9.9.9.9
                domain old.example.org
                nameserver 10.53.0.1
                nameserver\tfe80::1%eth7
                nameserver garbage
                nameserver ::1
                nameserver 10.53.0.9
                search home.example.org  office.example.org.
                options timeout:2 attempts:3 trust-ad edns0 rotate
                options ndots:5 timeout:x
                """, interface: { $0 == "eth7" ? 7 : nil })
        #expect(settings.servers.map(\.description) == ["10.53.0.1", "fe80::1%7", "::1"])
        #expect(settings.search.map(\.text) == ["home.example.org", "office.example.org"])
        #expect(settings.namesServers && !ResolverSettings(parsing: "search home.example.org").namesServers)
        #expect(settings.timeout == .seconds(2) && settings.attempts == 3 && settings.isTrusted)
    }

    @Test("An empty file names this machine, and leaves the rest open; numbers are kept within the C library's limits")
    func empty() {
        let settings = ResolverSettings(parsing: "options timeout:99999999999 attempts:0\n")
        #expect(settings.servers.map(\.description) == ["127.0.0.1"] && settings.search.isEmpty && !settings.isTrusted)
        #expect(settings.timeout == .seconds(30) && settings.attempts == 1)
        #expect(ResolverSettings(parsing: "").timeout == nil)
    }

    @Test("A server on an interface that is not there yet is known once it is, and again when that is another")
    func laterInterface() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "resolv-\(UUID().uuidString)")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("nameserver fe80::1%eth7\n".utf8).write(to: URL(filePath: path))
        let index = Locked<UInt32>(0)
        let file = ResolverFile(path: path) { _ in index.withLock { $0 } }
        #expect(!file.settings.namesServers)
        for number in [7, 9] as [UInt32] {
            index.withLock { $0 = number }
            #expect(file.settings.servers.map(\.description) == ["fe80::1%\(number)"])
        }
    }

    @Test("A file that is replaced, written, or gone is read again")
    func changes() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "resolv-\(UUID().uuidString)")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = ResolverFile(path: path)
        #expect(file.settings.servers.map(\.description) == ["127.0.0.1"])
        for address in ["10.53.0.1", "10.53.0.22"] {
            try Data("nameserver \(address)\n".utf8).write(to: URL(filePath: path), options: .atomic)
            #expect(file.settings.servers.map(\.description) == [address])
        }
        try Data("nameserver 10.53.0.3\n".utf8).write(to: URL(filePath: path))
        #expect(file.settings.servers.map(\.description) == ["10.53.0.3"])
        try FileManager.default.removeItem(atPath: path)
        #expect(file.settings.servers.map(\.description) == ["127.0.0.1"])
    }
}
