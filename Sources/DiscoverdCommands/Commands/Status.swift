#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

struct StatusCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how the daemon is: what finds and publishes, what it keeps warm, what it publishes.",
        discussion: "The status is 0 when all is well, 1 when the daemon is degraded, 69 when there is none."
    )

    @OptionGroup var common: DaemonOptions

    static var daemonUse: DaemonUse { .required }

    func execute(in session: Session) async throws -> ExitStatus {
        let status = try await session.ask("/v1/status")
        let isDegraded = status["degraded"]?.bool ?? true
        if session.json {
            try session.output.json { json in
                json.write(status)
                json.endLine()
            }
        } else {
            try show(status, isDegraded, in: session)
        }
        return isDegraded ? .notFound : .done
    }

    private func show(_ status: JSONValue, _ isDegraded: Bool, in session: Session) throws {
        let state = session.terminal.paint(isDegraded ? "degraded" : "running", isDegraded ? .yellow : .green)
        let version = status["version"]?.string ?? "?"
        let uptime = status["uptimeSeconds"]?.integer ?? 0
        // The daemon reports its process id only to root and its own user.
        let pid = status["pid"]?.integer.map { ", pid \($0)" } ?? ""
        try line("daemon", "\(state), version \(version)\(pid), up \(uptime) s", session)
        for reason in status["reasons"]?.strings ?? [] { try line("", reason.escapedForTerminal, session) }
        for role in ["finder", "publisher"] {
            let words = [status[role]?["kind"]?.string ?? "?", status[role]?["state"]?.string ?? "?"]
            try line(role, words.map(\.escapedForTerminal).joined(separator: ", "), session)
        }
        try line("socket", (status["socket"]?.string ?? "?").escapedForTerminal, session)
        let limit = status["limits"]?["clients"]?.integer ?? 0
        try line("clients", "\(status["clients"]?.integer ?? 0) of \(limit)", session)
        for feed in status["warm"]?.array ?? [] {
            let type = feed["type"]?.string ?? "every type"
            let what = (feed["name"]?.string).map { "\"\($0.escapedForTerminal)\" \(type)" } ?? type
            let settled = feed["settled"]?.bool == true ? "" : ", not settled"
            let configured = feed["configured"]?.bool == true ? ", configured" : ""
            let count = feed["services"]?.integer ?? 0
            let place = ([feed["family"]?.string].compactMap(\.self) + (feed["interfaces"]?.strings ?? []))
                .map { ", \($0.escapedForTerminal)" }.joined()
            let text = "\(what)\(place): \(count) service\(count == 1 ? "" : "s")\(settled)\(configured)"
            try line("warm", text, session)
        }
        for domain in status["domains"]?.array ?? [] { try line("domain", Self.text(domain), session) }
        for export in status["exports"]?.array ?? [] { try line("export", Self.export(export), session) }
        for registration in (status["registrations"]?.array ?? []).compactMap({ RegistrationStatus($0) }) {
            try line("published", LsCommand.record(registration, session.terminal), session)
        }
    }

    /// `home.example.org: held, 10.0.0.53, key pub, lease 7200 s, 3 services`
    private static func text(_ domain: JSONValue) -> String {
        let count = domain["services"]?.integer ?? 0
        let state = domain["publishes"]?.bool == true ? domain["state"]?.string ?? "?" : "no key, found only"
        let lease = domain["leaseSeconds"]?.integer ?? 0
        let left = domain["leaseLeftSeconds"]?.integer.map { " (\($0) s left)" } ?? ""
        let parts: [String?] = [
            state, domain["server"]?.string, domain["key"]?.string.map { "key \($0)" }, "lease \(lease) s\(left)",
            "\(count) service\(count == 1 ? "" : "s")", domain["reason"]?.string,
        ]
        return "\(domain["name"]?.string ?? "?"): \(parts.compactMap(\.self).joined(separator: ", "))"
            .escapedForTerminal
    }

    /// `link1.home.example.org: 3 services; not exported: 2 address, 1 name`
    private static func export(_ export: JSONValue) -> String {
        let count = export["services"]?.integer ?? 0
        let refused = ["name", "unfit", "foreign-host", "address", "text", "too-many"].compactMap { reason in
            (export["refused"]?[reason]?.integer).map { "\($0) \(reason)" }
        }
        let rest = refused.isEmpty ? "" : "; not exported: \(refused.joined(separator: ", "))"
        let failure = (export["reason"]?.string).map { "; the link is not followed: \($0)" } ?? ""
        return "\(export["domain"]?.string ?? "?"): \(count) service\(count == 1 ? "" : "s")\(rest)\(failure)"
            .escapedForTerminal
    }

    private func line(_ key: String, _ text: String, _ session: Session) throws {
        let padded = key + String(repeating: " ", count: max(0, 9 - key.count))
        try session.output.line(session.terminal.isInteractive ? "\(padded)  \(text)" : "\(key)\t\(text)")
    }
}
#endif
