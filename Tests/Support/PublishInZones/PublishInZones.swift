import DNSSD
import Discovery
import Foundation
import Glibc
import UnicastEngine

/// Publishes COUNT services in each of DOMAINS sub-domains of a zone, from one process: `link1.ZONE`, `link2.ZONE` and so on.
/// `PublishInZones ZONE KEYFILE DOMAINS COUNT [TYPE [LEASE]]`; the names are `Service 00001` onwards, the lease is in seconds.
///
/// Prints `failed NAME: REASON` for each that was not published, `established N` when all have been tried, and, when its standard
/// input has ended, `withdrawn N`, the number of those of which nothing is left. SIGTERM acts as a crash.
@main
enum PublishInZones {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 4, let domains = Int(arguments[3]), let count = Int(arguments[4]), domains > 0,
            count > 0
        else {
            print("usage: PublishInZones ZONE KEYFILE DOMAINS COUNT [TYPE [LEASE]]")
            exit(64)
        }
        let zone = arguments[1]
        let type = arguments.count > 5 ? arguments[5] : "_witap._tcp"
        let lease = arguments.count > 6 ? Int64(arguments[6]) ?? 7200 : 7200
        let settings = DomainSettings(
            try Domain(zone), key: try TSIGKey(file: arguments[2]), lease: .seconds(lease))
        let network = LocalNetwork(engine: UnicastEngine(domains: [settings]))

        let txt = try TXTRecord(["path": "/x"])
        let publications = try (0..<domains * count).map { number in
            let digits = String(number + 1)
            let name = "Service \(String(repeating: "0", count: max(0, 5 - digits.count)))\(digits)"
            let domain = "link\(number / count + 1).\(zone)"
            return network.publish(
                try OfferedService(name: name, type: type, domain: domain, port: 9000, txt: txt))
        }
        var established = 0
        for publication in publications {
            do throws(DiscoveryError) {
                _ = try await publication.established()
                established += 1
            } catch {
                say("failed \(publication.service.name): \(error.message)")
            }
        }
        say("established \(established)")
        while readLine() != nil {}
        let withdrawn = await withTaskGroup(of: Bool.self) { group in
            for publication in publications {
                group.addTask { await publication.withdraw(waitingAtMost: .seconds(120)) }
            }
            var withdrawn = 0
            for await isGone in group where isGone { withdrawn += 1 }
            return withdrawn
        }
        await network.shutdown()
        say("withdrawn \(withdrawn)")
    }

    /// One write a line, so that none waits for more.
    private static func say(_ line: String) {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
