#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

/// A daemon's immediate answer to `browse --once`, as lines to print. A value.
struct WarmAnswer {
    private static let settled = (text: "# settled\n", lines: "{\"v\":1,\"event\":\"settled\"}\n")
    private static let degradedMark = "# degraded\t"

    /// The lines to print.
    private(set) var lines: ArraySlice<UInt8>
    /// The lines include at least one service.
    private(set) var hasServices: Bool
    /// Why services may be missing, in the daemon's words.
    private(set) var degraded: String?

    /// The request for this answer.
    static func request(_ query: QueryString, json: Bool) -> ControlClient.Request {
        var query = query
        query.add("wait", "0")
        query.add("format", json ? "lines" : "text")
        return ControlClient.Request("GET", "/v1/services?\(query.text)")
    }

    /// - Returns: nil if the daemon does not know everything yet; then read its stream.
    init?(_ answer: [UInt8], json: Bool) {
        let end = json ? Self.settled.lines : Self.settled.text
        guard answer.suffix(64).reversed().starts(with: end.utf8.reversed()) else { return nil }
        lines = answer[...]
        hasServices = false
        if json {
            // A report of missing services comes first, and is shown to people too.
            for line in answer.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2) {
                let value = try? JSONReader.read(Array(line))
                if value?["event"]?.string == "degraded" { degraded = value?["reason"]?.string ?? "" }
                if value?["event"]?.string == "added" { hasServices = true }
            }
            return
        }
        lines = lines.dropLast(end.utf8.count)
        if lines.starts(with: Self.degradedMark.utf8), let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
            degraded = String(decoding: lines[..<end].dropFirst(Self.degradedMark.utf8.count), as: UTF8.self)
            lines = lines[(end + 1)...]
        }
        hasServices = !lines.isEmpty
    }

    /// Reports that services may be missing, if so.
    func tellWhatIsMissing(_ notices: ProgramNotices) {
        guard let degraded else { return }
        notices.notice("not everything may be shown: \(degraded.escapedForTerminal)")
    }
}
#endif
