import Foundation
import Glibc
import Testing

/// The daemon as a gateway: what a link offers, and what of it reaches a zone.
@Suite("gateway", .labSlot)
struct GatewayTests {
    private static let service = #"""
        {"services": [
            {"instance":"Printer A","type":"_printer._tcp","port":515,"host":"wpad","addresses":["10.53.1.77"],"ttl":4500},
            {"instance":"secret one","type":"_printer._tcp","port":515,"host":"ns","addresses":["10.53.1.78"],"ttl":4500},
            {"instance":"far","type":"_printer._tcp","port":515,"host":"www","addresses":["8.8.8.8"],"ttl":4500},
            {"instance":"*","type":"_printer._tcp","port":515,"host":"any","addresses":["10.53.1.81"],"ttl":4500},
            {"instance":"web","type":"_http._tcp","port":80,"host":"web","addresses":["10.53.1.79"],"ttl":4500},
            CROWD
        ]}
        """#

    /// The services above, and 120 of another type.
    private static var link: String {
        let crowd = (0..<120).map {
            #"{"instance":"p-\#($0)","type":"_ipp._tcp","port":631,"host":"crowd","addresses":["10.53.1.80"],"ttl":4500}"#
        }
        return service.replacing("CROWD", with: crowd.joined(separator: ",\n"))
    }

    @Test(
        "brings into its sub-domain what its rule names, and nothing of the link's own names", .labLong,
        arguments: GatewayStandbyTests.Site.all)
    func exports(_ site: GatewayStandbyTests.Site) async throws {
        let (dns, before) = try await site.start()
        let (lab, zone, address) = (dns.lab, site.zone, site.address)
        let file = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)")
            .path(percentEncoded: false)
        try Self.link.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let link = try lab.exec(
            "h2", ["sh", "-c", "exec \(Lab.python) \(Lab.scripts)/inject.py -4 --interval 5 <'\(file)'"])
        try await link.line(within: .seconds(20), "ready") { $0 == "ready" }
        let daemon = try LabDaemon(lab, "h1", socket: LabDaemon.systemSocket)
        try daemon.configure(
            """
            domains:
              - {name: link1.\(zone), key: /run/dns/keys/gw.key, lease: 60s, host: gw}
            export:
              - {interface: eth0, domain: link1.\(zone), types: [_printer._tcp, _ipp._tcp], names: ['*', '!secret*']}
            """)
        try await daemon.start(arguments: daemon.arguments + ["--state", "\(daemon.directory)/state"])

        let found = try lab.discoverd(
            "h3", "wait", "_printer._tcp", "-r", "--json", "--domain", "link1.\(zone)", "--timeout", "60")
        #expect(try await found.exit(within: .seconds(70)) == .exited(0), "\(found.lines(.stderr))")
        let line = try #require(found.lines().first)
        // Knot keeps names in lower case.
        #expect(line.lowercased().contains(#""printer a""#) && line.contains("10.53.1.77"), "\(line)")
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
            let export = try answer.objects("exports").first
            let refused = export?["refused"] as? [String: Int]
            return export?["services"] as? Int == 91
                && refused == ["name": 1, "address": 1, "unfit": 1, "too-many": 30]
        }
        _ = try await daemon.curl("/v1/status", within: .seconds(60)) { answer in
            try answer.objects("domains").first?["services"] as? Int == 91
        }
        let records = Set(try await dns.transfer(zone, from: address)).subtracting(before)
        #expect(records.count { $0.contains("PTR") && $0.hasPrefix("_ipp._tcp.link1.") } == 90)
        for record in records {
            let owner = record.prefix { $0 != "\t" && $0 != " " }
            #expect(!owner.contains("*"), "\(record)")
            #expect(owner.hasSuffix("link1.\(zone)."), "\(record)")
            for word in ["wpad", "secret", "8.8.8.8", "_http", "crowd", ".local"] {
                #expect(!record.contains(word), "\(record)")
            }
        }
        try await daemon.stop()
        let after = try await dns.transfer(zone, from: address)
        #expect(after == before, "\(Set(after).subtracting(before).prefix(5))")
        link.signal(SIGKILL)
        try await dns.stop()
    }
}
