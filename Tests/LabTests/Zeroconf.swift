import Foundation

/// What python-zeroconf sees.
struct Zeroconf: Decodable, Sendable {
    var event: String
    var name: String
    var port: Int?
    var txt: [Data]?
    var addresses: [String]?

    /// The TXT record's strings, in order.
    var strings: [[UInt8]] { (txt ?? []).map { [UInt8]($0) } }

    /// Waits until python-zeroconf has resolved a service.
    static func find(
        _ name: String,
        _ type: String,
        on host: String,
        of lab: Lab
    ) async throws -> Zeroconf {
        let browser = try lab.python(host, "zc_browse.py", type, "--name", name, "--seconds", "30")
        let line = try await browser.line(.stdout, within: .seconds(25), "\(name) in python-zeroconf") { line in
            guard let seen = try? Zeroconf(line) else { return false }
            return seen.name == name && seen.event != "unresolved"
        }
        return try Zeroconf(line)
    }

    init(_ line: String) throws { self = try JSONDecoder().decode(Zeroconf.self, from: Data(line.utf8)) }
}
