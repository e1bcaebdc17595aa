#if Commands
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import Libc

/// Whether a discoverd daemon runs, and what it permits this user. Most commands work without one.
enum DaemonCheck {
    private static let check = "daemon"

    static func run(socket: String?) async -> [Finding] {
        let paths = ControlSocketPath.candidates(explicit: socket)
        let search = ControlClient.find(paths, within: .seconds(2))
        guard let daemon = search.daemon else {
            if let path = search.silent.first { return [silent(path)] }
            // A socket that cannot be trusted: report why, and whose it is.
            guard search.refusals.isEmpty else {
                return search.refusals.map { Finding(check, .warn, "not asked: \($0)") }
            }
            return [absent(paths)]
        }
        let place = place(of: daemon.path)
        guard
            let answer = try? await daemon.send(ControlClient.Request("GET", "/v1/status"), within: .seconds(2)),
            let status = try? JSONReader.read(answer)
        else { return [silent(daemon.path)] }
        return findings(of: status, at: place)
    }

    private static func place(of path: String) -> String { "discoverd's daemon at \(path.escapedForTerminal)" }

    private static func silent(_ path: String) -> Finding {
        Finding(check, .fail, "\(place(of: path)) does not answer", advice: "Restart it: systemctl restart discoverd.")
    }

    /// Findings from a daemon's status.
    static func findings(of status: JSONValue, at place: String) -> [Finding] {
        let pid = status["pid"]?.integer.map { ", pid \($0)" } ?? ""
        let reasons = (status["reasons"]?.strings ?? []).map(\.escapedForTerminal)
        var findings = [
            reasons.isEmpty
                ? Finding(check, .ok, "\(place) runs\(pid)")
                : Finding(
                    check, .warn, "\(place) is degraded\(pid): \(reasons.joined(separator: "; "))",
                    advice: "'discoverd status' and journalctl -u discoverd have more.")
        ]
        if let may = status["may"] {
            findings.append(right(may["publish"]?.string, "you may publish through it, while the command runs"))
            findings.append(right(may["handOver"]?.string, "you may hand services over to it (publish --detach)"))
        }
        return findings
    }

    /// - Parameter refusal: why it is refused; nil if it is permitted.
    private static func right(_ refusal: String?, _ text: String) -> Finding {
        guard let refusal else { return Finding(check, .ok, text) }
        // Not a fault of the machine: without the daemon, anyone may.
        return Finding(
            check, .ok, text.replacingPrefix("you may ", by: "you may not ") + ": \(refusal.escapedForTerminal)")
    }

    private static func absent(_ paths: [String]) -> Finding {
        guard let stale = paths.first(where: { unsafe access($0, F_OK) == 0 }) else {
            return Finding(check, .ok, "no daemon of discoverd's runs: commands use avahi-daemon themselves")
        }
        return Finding(
            check, .warn, "no daemon answers at \(stale.escapedForTerminal), which is there",
            advice: "Start it again: systemctl restart discoverd.")
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, by other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
#endif
