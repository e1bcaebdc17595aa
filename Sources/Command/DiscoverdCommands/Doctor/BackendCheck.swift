#if Commands
internal import AvahiEngine
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import HostEngine
internal import Libc

/// What publishes here: avahi-daemon, if it answers, or discoverd itself.
enum BackendCheck {
    /// - Parameter isWanted: nothing else is to publish.
    /// - Returns: also whether avahi-daemon answers.
    static func run(in session: Session, isWanted: Bool) async throws -> (finding: DoctorFinding, avahiAnswers: Bool) {
        let states = session.network.backendStates()
        // The last reason reported; empty if there was none.
        let last = await withTimeLimit(Invocation.Patience.system.absence) { () -> String? in
            var last = ""
            var iterator = states.makeAsyncIterator()
            while !Task.isCancelled, let state = try? await iterator.next() {
                guard let reason = state.reason else { return nil }
                last = reason
            }
            return last
        }
        guard let last else { return (DoctorFinding("avahi", .ok, "avahi-daemon answers"), true) }
        let reason = last.isEmpty ? "it did not answer within \(Invocation.Patience.system.absence.inSeconds) s" : last
        let obstacle = isWanted ? "--avahi always" : HostEngine.reasonWithoutWire()
        return (absent(reason, responders: SystemResponder.all, obstacle: obstacle), false)
    }

    /// Why there is no answer, and what to do. If avahi-daemon runs but is silent, installing it is no advice.
    /// - Parameters:
    ///   - responders: what answers for this machine.
    ///   - obstacle: why discoverd cannot publish by itself; nil if it can.
    static func absent(_ reason: String, responders: [SystemResponder], obstacle: String?) -> DoctorFinding {
        if let hung = responders.first(where: \.isAvahi) {
            return DoctorFinding(
                "avahi", .fail, "\(hung) runs and does not answer: \(reason)",
                advice: "Restart it: systemctl restart avahi-daemon.")
        }
        if let other = responders.first {
            return DoctorFinding(
                "avahi", .fail,
                "\(other) answers for this machine, and nothing is published beside it; avahi-daemon: \(reason)",
                advice: "Stop it, or publish beside it: --avahi never.")
        }
        guard let obstacle else {
            return DoctorFinding("avahi", .ok, "no avahi-daemon runs: discoverd publishes by itself")
        }
        return DoctorFinding(
            "avahi", .fail,
            "no answer from avahi-daemon: \(reason); and discoverd cannot publish by itself: \(obstacle)",
            advice: "Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon).")
    }
}

/// Whether the system D-Bus, through which avahi-daemon is asked, can be reached.
enum BusCheck {
    /// - Parameter isNeeded: an avahi-daemon runs.
    static func run(isNeeded: Bool) -> DoctorFinding {
        let address = Environment.value("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        guard let path = socketPath(in: address) else {
            return DoctorFinding(
                "dbus", .warn, "the bus is at \(address), which is not a socket's path and is not checked")
        }
        let code = connectCode(to: path)
        guard code != 0 else { return DoctorFinding("dbus", .ok, "the system bus answers at \(path)") }
        guard isNeeded else {
            return DoctorFinding("dbus", .skip, "no system bus at \(path): only an avahi-daemon would need it")
        }
        return DoctorFinding(
            "dbus", .fail, "the system bus cannot be reached at \(path): \(systemMessage(code))",
            advice: "Install it (apt install dbus) and start it (systemctl start dbus).")
    }

    private static func socketPath(in address: String) -> String? {
        for part in address.split(separator: ";").first?.split(separator: ",") ?? [] where part.hasPrefix("unix:path=")
        {
            return String(part.dropFirst("unix:path=".count))
        }
        return nil
    }

    /// The `errno` of a connection attempt, or 0.
    private static func connectCode(to path: String) -> Int32 {
        guard let address = SocketAddress(unix: Array(path.utf8)) else { return ENAMETOOLONG }
        do throws(SystemError) {
            close(try Sockets.connected(to: address, waits: true))
            return 0
        } catch {
            return error.code
        }
    }
}

/// Which processes have UDP port 5353. A second mDNS stack takes unicast answers from avahi-daemon and may claim the same names.
enum ResponderCheck {
    /// The most processes that only hear the group and are shown.
    private static let most = 16

    static func run() -> [DoctorFinding] {
        let holders = PortHolder.holders(of: PortHolder.multicastDNS)
        let others = PortHolder.holders(of: PortHolder.multicastDNS, ofGroup: true).filter { other in
            other.process != getpid() && !holders.contains { $0.process != nil && $0.process == other.process }
        }
        return findings(of: holders, beside: others)
    }

    /// - Parameters:
    ///   - holders: what answers at this machine's addresses; one for each socket of a process that is hidden.
    ///   - others: what hears the group alone, likewise.
    static func findings(of holders: [PortHolder], beside others: [PortHolder] = []) -> [DoctorFinding] {
        let listening = listening(others)
        guard !holders.isEmpty else {
            return [DoctorFinding("responder", .ok, "nothing else answers on UDP port 5353")] + listening
        }
        let known = Dictionary(grouping: holders.filter { $0.process != nil }, by: \.process).values
            .compactMap(\.first).sorted { ($0.process ?? 0) < ($1.process ?? 0) }
        let avahi = known.filter { $0.name == "avahi-daemon" }
        var findings: [DoctorFinding] = []
        switch avahi.count {
        case 0: break
        case 1: findings.append(DoctorFinding("responder", .ok, "\(avahi[0]) listens on UDP port 5353"))
        default:
            findings.append(
                DoctorFinding(
                    "responder", .fail,
                    "\(avahi.count) avahi-daemons answer for this machine: \(avahi.map(\.description).joined(separator: ", "))",
                    advice:
                        "They take each other's answers and names: leave the system's, and stop what started the other."
                ))
        }
        // discoverd's own publish under one host name, and leave the port to others (docs/decisions/0081-a-responder-of-our-own.md).
        let own = known.filter { $0.name?.hasPrefix("discoverd") == true }
        findings += own.map { DoctorFinding("responder", .ok, "\($0) publishes by itself, on UDP port 5353") }
        findings += known.filter { !avahi.contains($0) && !own.contains($0) }.map { other($0, besides: avahi.first) }
        let unknown = Set(holders.filter { $0.process == nil }.map(\.user)).sorted()
        if !unknown.isEmpty {
            findings.append(
                DoctorFinding(
                    "responder", known.isEmpty ? .ok : .warn,
                    "\(known.isEmpty ? "a process" : "another process") of user \(unknown.map(String.init).joined(separator: ", ")) listens on UDP port 5353",
                    advice: "Run 'discoverd doctor' as root to see which."))
        }
        return findings + listening
    }

    /// Those that hear the group alone: discoverd's own, and programs of its library, publish so where another has the port first.
    private static func listening(_ others: [PortHolder]) -> [DoctorFinding] {
        let known = others.filter { $0.process != nil }.sorted { ($0.process ?? 0) < ($1.process ?? 0) }
        let hidden = Set(others.filter { $0.process == nil }.map(\.user)).sorted()
        let shown = known.prefix(most).map { "\($0) finds or publishes in the group, on UDP port 5353" }
        let left = known.count - shown.count
        return
            (shown + (left > 0 ? ["\(left) more processes do"] : [])
            + hidden.map { "a process of user \($0) finds or publishes in the group, on UDP port 5353" })
            .map { DoctorFinding("responder", .ok, $0) }
    }

    private static func other(_ holder: PortHolder, besides avahi: PortHolder?) -> DoctorFinding {
        let isResolved = holder.name?.hasPrefix("systemd-resolve") == true
        // Without an avahi-daemon it disturbs nothing: others have equal records of this machine (docs/decisions/0081-a-responder-of-our-own.md).
        guard avahi != nil || isResolved else {
            return DoctorFinding("responder", .ok, "\(holder) listens on UDP port 5353")
        }
        let advice =
            isResolved
            ? "Set MulticastDNS=no in /etc/systemd/resolved.conf and restart systemd-resolved."
            : "Two mDNS stacks on a host disturb each other: stop one, or let it use avahi-daemon."
        return DoctorFinding(
            "responder", .warn, "\(holder) listens on UDP port 5353\(avahi == nil ? "" : " too")", advice: advice)
    }
}
#endif
