import Foundation
import Testing

/// Our own responder on a host, judged by discoverd-conformance on another. What its values decide is judged in virtual time (ConformanceTests).
@Suite("responders judged from outside", .labSlot)
struct RespondersJudgedTests {
    /// What ours breaks, with the reason: a packet to the host alone reaches the socket that was bound last, and no process asks another.
    private static let broken: Set<Int> = [100]

    private struct Report: Decodable {
        struct Line: Decodable {
            var rule: Int
            var verdict: String
            var seen: String?
        }
        var rules: [Line]
    }

    private func judge(_ rules: [Int], with driver: [String]? = nil, broken: Set<Int> = broken) async throws {
        let lab = try await Lab.start("--no-avahi", "h1", "--no-avahi", "h2")
        try await lab.lab("link", "h2", "eth1", "10.78.0.2/24")
        let own = "\(Lab.scripts)/lab"
        let driver = driver ?? ["\(Self.drivers)/discoverd.py", Built.discoverd]
        let judge = try lab.exec(
            "h2",
            [Built.program("discoverd-conformance"), "--interface", "eth0", "--interface", "eth1", "--json"]
                + rules.flatMap { ["--rule", String($0)] } + ["--", own, "exec", "h1"] + driver,
            environment: ["LAB_DIR": lab.directory, "CONFORMANCE_LAB": own])
        let line = try await judge.line(.stdout, within: .seconds(220), "a report") { $0.hasPrefix("{") }
        let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
        #expect(report.rules.map(\.rule) == rules)
        for line in report.rules {
            let wanted = line.rule == 128 ? "not judged" : broken.contains(line.rule) ? "broken" : "kept"
            #expect(line.verdict == wanted, "rule \(line.rule): \(line.seen ?? line.verdict)")
        }
        try await lab.stop()
    }

    private static let drivers = "\(Lab.package)Conformance/drivers"

    @Test("ports, TTL, both families, fragments, unicast, links, processes: what sockets decide", .labLong)
    func sockets() async throws { try await judge([1, 2, 3, 5, 8, 9, 60, 64, 65, 66, 83, 88, 89, 91, 100]) }

    @Test("all others", .onlyInAll, .labLong, arguments: [4...19, 20...28, 29...45, 46...61, 62...79, 80...99])
    func all(_ range: ClosedRange<Int>) async throws {
        let sockets: Set<Int> = [5, 8, 9, 60, 64, 65, 66, 83, 88, 89, 91]
        try await judge(range.filter { !sockets.contains($0) })
    }

    @Test("our querier", .onlyInAll, .labLong, arguments: [101...112, 113...127, 128...137, 138...152, 153...162])
    func querier(_ range: ClosedRange<Int>) async throws { try await judge(Array(range)) }

    @Test("the driver for mdnsd, with stand-ins for what Debian has not", .onlyInAll)
    func standIns() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stand-ins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [
            ("mdnsd", "#!/bin/sh\n: >/run/mDNSResponder\nexec sleep infinity\n"),
            (
                "dns-sd",
                """
                #!/bin/sh
                [ "$1" = -R ] || { echo 'Currently running daemon (system service) is version 0'; exit; }
                name=$2 type=${3%%,*} port=$5
                exec \(Built.discoverd) publish --avahi never --type "$type" -- "$name" "$port"

                """
            ),
        ] {
            let file = folder.appending(path: name).path(percentEncoded: false)
            try Data(text.utf8).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
        }
        let path = "PATH=\(folder.path(percentEncoded: false)):/usr/sbin:/usr/bin:/sbin:/bin"
        // They have neither subtypes nor TXT records.
        try await judge([11, 14, 36, 57], with: ["env", path, "\(Self.drivers)/mdnsd.py"], broken: [36])
    }
}
