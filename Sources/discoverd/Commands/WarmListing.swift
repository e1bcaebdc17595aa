internal import DNSSD
internal import Discovery
internal import DiscoveryControl

/// `browse --once` when the daemon knows the answer already: its lines are taken as they are.
struct WarmListing {
    let session: Session
    let printer: ServicePrinter
    let query: QueryString

    private static let settled = (text: "# settled\n", lines: "{\"v\":1,\"event\":\"settled\"}\n")
    private static let degraded = "# degraded\t"

    /// - Returns: nil, with nothing printed, when the daemon does not know all: then the stream is to be read.
    func run() async throws -> ExitStatus? {
        guard let daemon = session.daemon else { return nil }
        var query = query
        query.add("wait", "0")
        query.add("format", session.json ? "lines" : "text")
        let request = ControlClient.Request("GET", "/v1/services?\(query.text)")
        guard let answer = try? await daemon.send(request, within: .seconds(1)) else { return nil }
        let isAll = answer.suffix(64).reversed().starts(
            with: (session.json ? Self.settled.lines : Self.settled.text).utf8.reversed())
        guard isAll else { return nil }
        return try session.json ? pass(answer) : show(answer)
    }

    private func pass(_ lines: [UInt8]) throws -> ExitStatus {
        try session.output.bytes(lines)
        var found = false
        // What was left out comes first, and is told to people as well.
        for line in lines.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2) {
            let json = try? JSONReader.read(Array(line))
            if json?["event"]?.string == "degraded" { tell(json?["reason"]?.string?.escapedForTerminal ?? "") }
            if json?["event"]?.string == "added" { found = true }
        }
        try session.output.flush()
        return found ? .done : .notFound
    }

    private func show(_ bytes: [UInt8]) throws -> ExitStatus {
        var rest = bytes.dropLast(Self.settled.text.utf8.count)
        if rest.starts(with: Self.degraded.utf8), let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            tell(String(decoding: rest[..<end].dropFirst(Self.degraded.utf8.count), as: UTF8.self))
            rest = rest[(end + 1)...]
        }
        if session.terminal.isInteractive {
            for line in String(decoding: rest, as: UTF8.self).split(separator: "\n") { try printer.show(text: line) }
        } else {
            try session.output.bytes(rest)
        }
        try session.output.flush()
        return rest.isEmpty ? .notFound : .done
    }

    private func tell(_ reason: String) { session.notices.notice("not everything may be shown: \(reason)") }
}
