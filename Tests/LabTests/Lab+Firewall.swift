import Foundation

extension Lab {
    /// Replaces the rules for packets that arrive at a host.
    func firewall(_ host: String, _ rules: String...) async throws {
        try await nft(host, ["type filter hook input priority 0;"] + rules)
    }

    /// Replaces the only chain of a host's firewall.
    func nft(_ host: String, _ lines: [String]) async throws {
        // One rule per line, as nft requires.
        let chain = "table inet t {\n chain c {\n  " + lines.joined(separator: "\n  ") + "\n }\n}\n"
        try await run(host, "sh", "-c", "nft delete table inet t 2>/dev/null; printf '%s' '\(chain)' | nft -f -")
    }
}
