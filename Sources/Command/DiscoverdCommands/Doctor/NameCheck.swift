#if Commands
internal import CommandFrame
internal import DNSSD
internal import HostEngine

/// Whether each name of the link has one owner.
enum NameCheck {
    private static let check = "names"
    /// The most disputes that are shown.
    private static let most = 20

    static func run() async -> [CheckResult] {
        let disputes: NameDisputes? = await withCheckedContinuation { continuation in
            do throws(CommandError) {
                try BlockingThread.start { continuation.resume(returning: NameDisputes.survey()) }
            } catch {
                continuation.resume(returning: nil)
            }
        }
        return disputes.map(findings(of:)) ?? []
    }

    static func findings(of found: NameDisputes) -> [CheckResult] {
        let (doubtful, disputes) = (found.disputes.filter(\.mayBeOne), found.disputes.filter { !$0.mayBeOne })
        let notes = doubtful.prefix(most).map { dispute in
            CheckResult(
                check, .ok,
                "\(dispute.name) is one host with two interfaces on a link, or two hosts share the name: "
                    + dispute.sides.joined(separator: "; "))
        }
        guard !disputes.isEmpty else {
            guard found.services + found.hosts > 0 else {
                return [
                    CheckResult(check, .skip, "no service and no host was heard of, so nothing is known of their names")
                ]
            }
            return [
                CheckResult(
                    check, .ok,
                    "no name is claimed twice, of \(found.services) services and \(found.hosts) hosts that were heard of"
                )
            ] + notes
        }
        let shown = disputes.prefix(most).map { dispute in
            CheckResult(
                check, .warn,
                "\(dispute.isService ? "the service" : "the host name") \(dispute.name) is claimed by "
                    + "\(dispute.sides.count) hosts: \(dispute.sides.joined(separator: "; "))",
                advice:
                    "Which is the real one, 'discoverd identity' there tells, and 'connect --tls' here (docs/identity.md). "
                    + "Stop or rename the other.")
        }
        let left = disputes.count - shown.count
        return shown + (left > 0 ? [CheckResult(check, .warn, "\(left) more names are claimed twice")] : []) + notes
    }
}
#endif
