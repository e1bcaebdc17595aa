import Foundation
import Testing

/// More services than one connection to avahi-daemon can handle well (docs/decisions/0013-lanes.md).
@Suite("a crowd of services", .labSlot)
struct CrowdTests {
    /// Announced repeatedly, because packets are lost, and a record received within the last second is not replaced by another (RFC 6762
    /// §10.2).
    private static let often = ["-4", "--interval", "2"]

    @Test("700 are resolved, and a change to the TXT record of any of them is told", .labLong)
    func changes() async throws {
        let lab = try await Lab.start("--no-avahi", "h1")
        let names = (0..<700).map { "crowd-\($0)" }
        let publisher = try await lab.inject("h1", Self.services(names), Self.often + ["--no-goodbye"])
        let browser = try lab.discoverd("h2", "browse", "_crowd._tcp", "-r", "--json")
        let resolved = try await Self.names(told: "1", by: browser, until: names.count)
        #expect(resolved == Set(names))

        let changed = Set(names.enumerated().filter { $0.offset.isMultiple(of: 20) }.map(\.element))
        // It would answer questions with the old text.
        try await publisher.stop()
        let changer = try await lab.inject("h1", Self.textRecords(of: changed), Self.often)
        let told = try await Self.names(told: "2", by: browser, until: changed.count)
        #expect(told == changed)
        try await browser.stop()
        try await changer.stop()
    }

    /// The services reported with this value of `v`, once there are `count` of them.
    private static func names(told value: String, by browser: LabProcess, until count: Int) async throws -> Set<String>
    {
        var names: Set<String> = []
        while names.count < count {
            let line = try await browser.json(within: .seconds(120), "v=\(value), after \(names.count) of \(count)") {
                $0.service?.txt?["v"] == .text(value)
            }
            names.insert(try #require(line.service).name)
        }
        return names
    }

    private static func services(_ names: [String]) -> String {
        let services = names.map {
            """
            {"instance":"\($0)","type":"_crowd._tcp","host":"crowd","addresses":["10.77.0.1"],"txt":["v=1"],"ttl":4500}
            """
        }
        return #"{"services":[\#(services.joined(separator: ","))]}"#
    }

    private static func textRecords(of names: Set<String>) -> String {
        let records = names.map {
            #"{"name":["\#($0)","_crowd","_tcp","local"],"type":"TXT","strings":["v=2"],"ttl":4500}"#
        }
        return #"{"records":[\#(records.joined(separator: ","))]}"#
    }
}
