#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem
internal import Libc
internal import MulticastEngine

/// Whether multicast DNS passes on each link: asked through the group and directly, with what this machine sends itself as the control.
enum LinkCheck {
    /// What one link showed, over one family.
    struct Trial: Sendable {
        let interface: NetworkInterface
        let family: IPAddress.Family
        /// The group can be heard: UDP port 5353 is shared.
        var canHear = true
        /// The `errno` of the system, where it sent nothing.
        var refusal: Int32?
        var heard: LinkTrial
    }

    /// What that means.
    private enum Outcome: Equatable {
        case refused(Int32)
        /// Another program has the port.
        case deaf
        /// Nothing comes in, of this machine neither.
        case closed
        /// Hosts answer, but nothing of theirs comes through the group.
        case unheard
        /// No other host was heard.
        case alone
        /// Other hosts are heard, but answer no other port.
        case indirect
        case good
    }

    private static let check = "link"
    /// The most links that are tried.
    private static let mostLinks = 16

    /// Tries every link with a carrier, for 2.6 s.
    static func run() async -> [Trial] {
        let usable = SystemInterfaces.usable(by: .all).filter { !$0.interface.isLoopback }.flatMap { link in
            link.families.map { (link.interface, $0) }
        }.filter { SystemInterfaces.isReceiving($0, over: $1) }
        let tried = Set(usable.map(\.0)).sorted().prefix(mostLinks)
        return await withTaskGroup(of: Trial?.self) { group in
            for (interface, family) in usable where tried.contains(interface) {
                group.addTask { try? await BlockingThread.value { Self.tried(interface, family) } }
            }
            return await group.reduce(into: []) { trials, trial in if let trial { trials.append(trial) } }
        }
    }

    /// Blocks.
    private static func tried(_ interface: NetworkInterface, _ family: IPAddress.Family) -> Trial? {
        guard let filter = try? InterfaceFilter([interface.name]) else { return nil }
        let addresses = (InterfaceAddress.all() ?? []).filter { $0.interface == interface }.compactMap(\.address)
        let inquiry = LinkInquiry(on: filter, over: family)
        guard !inquiry.links.isEmpty else { return nil }
        var trial = LinkTrial(
            own: addresses.filter { $0.family == family },
            neighbours: family == .ipv4 ? Neighbours.all(on: interface.name) : [])
        inquiry.run(&trial, within: .seconds(3)) { false }
        return Trial(
            interface: interface, family: family, canHear: inquiry.hearing.contains(interface),
            refusal: inquiry.sent.isEmpty ? inquiry.refusals[interface] : nil, heard: trial)
    }

    /// - Parameter avahiRuns: this machine has an avahi-daemon that answers programs.
    static func findings(of trials: [Trial], avahiRuns: Bool) -> [DoctorFinding] {
        Dictionary(grouping: trials, by: \.interface).sorted { $0.key < $1.key }.map { interface, trials in
            let trials = trials.sorted { $0.family.rawValue < $1.family.rawValue }
            let name = interface.name.escapedForTerminal
            if let fault = trials.lazy.compactMap({ fault($0, on: name) }).first { return fault }
            let heard = trials.filter { !$0.heard.group.isEmpty }
            guard !heard.isEmpty else { return alone(name, trials) }
            let counts = heard.map { trial in
                let count = trial.heard.group.count
                return "\(count == 1 ? "1 other host" : "\(count) other hosts") over \(trial.family.name)"
            }.joined(separator: ", ")
            if avahiRuns, !trials.contains(where: \.heard.hasOwnAnswer) {
                return DoctorFinding(
                    check, .warn, "\(name): \(counts) heard, but this machine's avahi-daemon answers no question there",
                    advice: "Look at allow-interfaces, deny-interfaces and use-ipv4 in \(ResponderSettings.path)."
                )
            }
            guard !heard.contains(where: { outcome($0) == .indirect }) else {
                return DoctorFinding(
                    check, .warn,
                    "\(name): \(counts) heard, but no answer to another port than 5353 comes in: lists take longer, and "
                        + "'query' and 'resolve HOST' may find nothing",
                    advice: "Let in what comes from UDP port 5353; 'nft list ruleset' shows this machine's firewall.")
            }
            return DoctorFinding(check, .ok, "\(name): \(counts) heard")
        }
    }

    private static func outcome(_ trial: Trial) -> Outcome {
        if let refusal = trial.refusal { return .refused(refusal) }
        if !trial.canHear { return .deaf }
        if trial.heard.group.isEmpty {
            if !trial.heard.isEchoed { return .closed }
            return trial.heard.direct.isEmpty ? .alone : .unheard
        }
        return trial.heard.direct.isEmpty && !trial.heard.answering.isEmpty ? .indirect : .good
    }

    /// What keeps packets from coming or going.
    private static func fault(_ trial: Trial, on name: String) -> DoctorFinding? {
        let family = trial.family.name
        switch outcome(trial) {
        case .good, .indirect, .alone: return nil
        case .refused(let code):
            let isFirewall = code == EPERM || code == EACCES
            return DoctorFinding(
                check, isFirewall ? .fail : .warn,
                "\(name): this machine sends no multicast over \(family): \(systemMessage(code))",
                advice: isFirewall
                    ? "A firewall of this machine forbids it: let UDP port 5353 out ('nft list ruleset' shows the rules)."
                    : "'ip route get 224.0.0.251' and 'ip address' show what is missing.")
        case .deaf:
            return DoctorFinding(
                check, .warn, "\(name): what is sent to the group is not heard, because UDP port 5353 is not shared",
                advice: "Stop the program that 'responder' names, or let it share the port.")
        case .closed:
            return DoctorFinding(
                check, .fail,
                "\(name): nothing that is sent to UDP port 5353 over \(family) comes in, not even what this machine itself "
                    + "sends: a firewall of this machine drops it",
                advice:
                    "Let UDP port 5353 in: firewall-cmd --permanent --add-service=mdns && firewall-cmd --reload, or ufw "
                    + "allow 5353/udp; 'nft list ruleset' shows the rules.")
        case .unheard:
            let count = trial.heard.direct.count
            return DoctorFinding(
                check, .warn,
                "\(name): \(count == 1 ? "1 host answers" : "\(count) hosts answer") over \(family), but nothing of "
                    + "\(count == 1 ? "it" : "them") comes through the group: services that come and go are missed",
                advice: "A switch or access point keeps multicast away (IGMP snooping), or a firewall drops it.")
        }
    }

    private static func alone(_ name: String, _ trials: [Trial]) -> DoctorFinding {
        DoctorFinding(
            check, .warn,
            "\(name): no other host was heard over \(trials.map(\.family.name).joined(separator: " and "))",
            advice:
                "No one else there speaks mDNS or offers anything, or multicast does not pass: client isolation of an access "
                + "point, another VLAN, or the firewalls of all others.")
    }
}
#endif
