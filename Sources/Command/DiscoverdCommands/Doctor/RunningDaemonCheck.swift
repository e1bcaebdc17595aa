#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import Libc
internal import MulticastEngine

/// Whether a discoverd daemon runs, and what it permits this user. Most commands work without one.
enum RunningDaemonCheck {
    private static let check = "daemon"

    /// What is found of the daemon.
    struct Result {
        var findings: [DoctorFinding]
        /// Commands find through it.
        var finds = false
        /// Commands publish through it.
        var publishes = false
    }

    static func run(socket: String?) async -> Result {
        let paths = ControlSocketPath.candidates(explicit: socket)
        let search = ControlClient.find(paths, within: .seconds(2))
        guard let daemon = search.daemon else {
            if let path = search.silent.first { return Result(findings: [silent(path)]) }
            // A socket that cannot be trusted: report why, and whose it is.
            guard search.refusals.isEmpty else {
                return Result(findings: search.refusals.map { DoctorFinding(check, .warn, "not asked: \($0)") })
            }
            return Result(findings: [absent(paths)])
        }
        let place = place(of: daemon.path)
        guard
            let answer = try? await daemon.send(ControlClient.Request("GET", "/v1/status"), within: .seconds(2)),
            let status = try? JSONReader.read(answer)
        else { return Result(findings: [silent(daemon.path)]) }
        return result(of: status, at: place)
    }

    private static func place(of path: String) -> String { "discoverd's daemon at \(path.escapedForTerminal)" }

    private static func silent(_ path: String) -> DoctorFinding {
        DoctorFinding(
            check, .fail, "\(place(of: path)) does not answer", advice: "Restart it: systemctl restart discoverd.")
    }

    /// What a daemon's status says.
    static func result(of status: JSONValue, at place: String) -> Result {
        let pid = status["pid"]?.integer.map { ", pid \($0)" } ?? ""
        let reasons = (status["reasons"]?.strings ?? []).map(\.escapedForTerminal)
        let runs =
            reasons.isEmpty
            ? DoctorFinding(check, .ok, "\(place) runs\(pid)")
            : DoctorFinding(
                check, .warn, "\(place) is not well\(pid): \(reasons.joined(separator: "; "))",
                advice: "'discoverd status' and journalctl -u discoverd have more.")
        let (finder, publisher) = (part(.finds, .fail, of: status), part(.publishes, .warn, of: status))
        return Result(
            findings: [runs, finder, publisher] + (status["may"].map(rights) ?? []), finds: finder.verdict == .ok,
            publishes: publisher.verdict == .ok)
    }

    /// What finds or publishes for everyone.
    /// - Parameter away: how much it matters that it does not answer.
    private static func part(_ part: DaemonWork.Part, _ away: DoctorFinding.Verdict, of status: JSONValue)
        -> DoctorFinding
    {
        let work = DaemonWork(part, of: status)
        let text = "the daemon \(part == .finds ? "finds" : "publishes") \(work.text(links: []))"
        switch work.answers {
        case true: return DoctorFinding(part.rawValue, .ok, text)
        case false:
            return DoctorFinding(
                part.rawValue, away, text,
                advice: "'discoverd doctor' on the daemon's own machine says what is missing there.")
        default: return DoctorFinding(part.rawValue, .skip, text)
        }
    }

    /// What this user may publish through it. That something is refused is no fault of the machine: without the daemon, anyone may.
    private static func rights(_ may: JSONValue) -> [DoctorFinding] {
        let (publish, handOver) = (may["publish"]?.string, may["handOver"]?.string)
        let ruled = (may["rules"]?.array ?? []).map { rule in
            let types = rule["types"]?.strings.map { $0.map(\.escapedForTerminal).joined(separator: ", ") }
            let domains = (rule["domains"]?.strings ?? []).filter { $0 != "local" }.map(\.escapedForTerminal)
            let place = domains.isEmpty ? "" : " in \(domains.joined(separator: ", "))"
            return DoctorFinding(
                check, .ok,
                "you may publish \(types ?? "every type")\(place) through it, and hand it over (publish --detach)")
        }
        let other = ruled.isEmpty ? "" : "other "
        return ruled + [
            publish.map {
                DoctorFinding(check, .skip, "you may not publish \(other)services through it: \($0.escapedForTerminal)")
            }
                ?? DoctorFinding(check, .ok, "you may publish through it, while the command runs"),
            handOver.map {
                DoctorFinding(check, .skip, "you may not hand \(other)services over to it: \($0.escapedForTerminal)")
            }
                ?? DoctorFinding(check, .ok, "you may hand services over to it (publish --detach)"),
        ]
    }

    private static func absent(_ paths: [String]) -> DoctorFinding {
        guard let stale = paths.first(where: { unsafe access($0, F_OK) == 0 }) else {
            return DoctorFinding(check, .ok, "no daemon runs: commands find and publish without one")
        }
        return DoctorFinding(
            check, .warn, "no daemon answers at \(stale.escapedForTerminal), which is there",
            advice: "Start it again: systemctl restart discoverd.")
    }
}

/// Whether each name of the link has one owner.
enum NameCheck {
    private static let check = "names"
    /// The most disputes that are shown.
    private static let most = 20

    static func run() async -> [DoctorFinding] {
        (try? await BlockingThread.value { NameCheck.survey() }).map(findings(of:)) ?? []
    }

    /// Asks the links for 2.5 s; blocks.
    /// - Returns: nil where there is no link, or UDP port 5353 is not shared.
    private static func survey() -> NameSurvey? {
        let inquiry = LinkInquiry(on: .all, over: nil, asQuery: true)
        guard inquiry.links.contains(where: { !$0.interface.isLoopback }) else { return nil }
        var survey = NameSurvey(own: inquiry.ownAddresses)
        inquiry.run(&survey, within: NameSurvey.time) { false }
        return survey
    }

    static func findings(of survey: NameSurvey) -> [DoctorFinding] {
        let (found, all) = (survey.count, survey.disputes)
        let (doubtful, disputes) = (all.filter(\.mayBeOne), all.filter { !$0.mayBeOne })
        let notes = doubtful.prefix(most).map { dispute in
            DoctorFinding(
                check, .ok,
                "\(dispute.name.presentation) is one host with two interfaces on a link, or two hosts share the name: "
                    + dispute.texts.joined(separator: "; "))
        }
        guard !disputes.isEmpty else {
            guard found.services + found.hosts > 0 else {
                return [
                    DoctorFinding(
                        check, .skip, "no service and no host was heard of, so nothing is known of their names")
                ]
            }
            return [
                DoctorFinding(
                    check, .ok,
                    "no name is claimed twice, of \(found.services) service\(found.services == 1 ? "" : "s") and "
                        + "\(found.hosts) host\(found.hosts == 1 ? "" : "s") that were heard of"
                )
            ] + notes
        }
        let shown = disputes.prefix(most).map { dispute in
            DoctorFinding(
                check, .warn,
                "\(dispute.isService ? "the service" : "the host name") \(dispute.name.presentation) is claimed by "
                    + "\(dispute.sides.count) hosts: \(dispute.texts.joined(separator: "; "))",
                advice:
                    "'discoverd key show' there and 'connect --tls' here tell which one is real (discoverd-key(1)). "
                    + "Stop or rename the other.")
        }
        let left = disputes.count - shown.count
        return shown + (left > 0 ? [DoctorFinding(check, .warn, "\(left) more names are claimed twice")] : []) + notes
    }
}
#endif
