package import DNSSD

/// How much one host may have this machine send to it alone: a forged source must not be flooded by what is asked in its name. A window
/// of a second.
package struct ReplyBudget: Sendable {
    /// Bytes for each source, and for all.
    private static let ofSource = 16_384
    private static let ofAll = 262_144
    /// The most sources counted apart.
    private static let mostSources = 256

    private var began = Duration.zero
    private var sources: [IPAddress: Int] = [:]
    private var all = 0

    package init() {}

    /// Takes the bytes of a packet; false if the source or all together had enough in this second.
    package mutating func take(_ bytes: Int, for source: IPAddress, at now: Duration) -> Bool {
        if now - began >= .seconds(1) { (began, sources, all) = (now, [:], 0) }
        let used = sources[source] ?? 0
        guard used + bytes <= Self.ofSource, all + bytes <= Self.ofAll,
            sources.count < Self.mostSources || sources[source] != nil
        else { return false }
        sources[source] = used + bytes
        all += bytes
        return true
    }
}
