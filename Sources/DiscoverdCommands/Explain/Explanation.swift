#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import HostEngine
internal import MulticastEngine
internal import System

/// What evidence means: what is wrong. A value.
struct Explanation {
    /// The most things that one diagnosis names.
    private static let mostNamed = 4
    /// Fewer answers than so many of `AnswerSample.size` are more than chance.
    private static let leastAnswers = 6

    let evidence: Evidence
    private(set) var diagnoses: [Diagnosis] = []

    init(_ evidence: Evidence) {
        self.evidence = evidence
        if !evidence.deaf.isEmpty {
            let holders = evidence.holders.isEmpty ? "another program" : Self.list(evidence.holders)
            add(
                .portTaken,
                "UDP port 5353 is not shared by \(holders): multicast on \(Self.list(evidence.deaf.map(\.text).sorted())) is not heard"
            )
        }
        if evidence.links.isEmpty {
            add(
                .noInterface,
                "no interface that is up, has an address and multicast was there to ask; 'ip address' lists them")
        } else if evidence.refusals.count == evidence.links.count {
            let reasons = evidence.refusals.sorted { $0.key < $1.key }.map {
                "\($0.key.text): \(systemMessage($0.value))"
            }
            add(
                .notSent,
                "this machine refuses to send multicast (\(reasons.joined(separator: "; "))): a firewall of its own, or no route"
            )
        } else if evidence.inquiry.answers.isEmpty {
            explainSilence()
        } else {
            checkAnswers()
            if evidence.isCut {
                addCut()
            } else {
                checkPath()
                checkService()
            }
            checkCache()
            checkConnections()
        }
    }

    private mutating func add(_ code: Diagnosis.Code, _ message: String) {
        diagnoses.append(Diagnosis(code, message))
    }

    private mutating func addCut() {
        add(
            .incomplete,
            "the time was over before all was asked: what is missing is not known; a longer --timeout tells")
    }

    /// No one says that the name is there.
    private mutating func explainSilence() {
        let (inquiry, name) = (evidence.inquiry, evidence.name)
        let listing = inquiry.records(of: evidence.subject.listing, [.ptr])
        if inquiry.isWithdrawn {
            add(.withdrawn, "\(name) is being withdrawn: only goodbyes (TTL 0) were heard of it")
        } else if let first = listing.first {
            add(
                .noServiceRecord,
                "\(first.arrival.sender) lists \(name), but no one has an SRV record for it: it cannot be resolved")
        } else if !evidence.direct.isEmpty {
            add(
                .multicastNotDelivered,
                "\(Self.list(evidence.direct.map(\.description).sorted())) answers when asked directly, but not through the "
                    + "group: multicast does not get there (a firewall there, or IGMP snooping in a switch or access point)"
            )
        } else if evidence.isCut {
            addCut()
        } else if !suggest() {
            let isSilent = inquiry.hosts.isEmpty && evidence.census?.hasOthers != true
            let links = Self.list(evidence.links.map(\.interface.text))
            if isSilent {
                add(
                    .silentLink,
                    "no other host was heard on \(links), whatever was asked: no one else there speaks mDNS, or multicast does "
                        + "not pass (client isolation, a firewall, another network)")
            } else {
                add(.noAnswer, "no one on \(links) answers for \(name), though other hosts are heard: it is not there")
            }
        }
        // What a goodbye ends, avahi-daemon keeps for a second (RFC 6762 §10.1); and who answers directly is there.
        if !inquiry.isWithdrawn, evidence.direct.isEmpty { checkCache() }
    }

    /// Looks for what may be meant.
    /// - Returns: whether there is such a thing.
    private mutating func suggest() -> Bool {
        guard let census = evidence.census else { return false }
        switch evidence.subject {
        case .host: return false
        case .service(let instance):
            let same = census.services(named: instance.name).filter { $0.type != instance.type }
            if !same.isEmpty {
                add(
                    .otherType,
                    "no one answers for \(evidence.name), but there is \(Self.list(same.map(\.fullName)))")
                return true
            }
            let near = census.services.filter { $0.name.value.isSimilar(to: instance.name.value) }.sorted {
                ($0.type == instance.type ? 0 : 1, $0) < ($1.type == instance.type ? 0 : 1, $1)
            }
            guard !near.isEmpty else { return false }
            add(
                .similarName,
                "no one answers for \(evidence.name), but there is \(Self.list(near.map(\.fullName)))")
        case .type(let type):
            let near = census.types.filter { $0.name.isSimilar(to: type.name) && $0 != type }
            guard !near.isEmpty else { return false }
            add(
                .otherType,
                "there is no service of type \(type), but there are some of \(Self.list(near.map(\.description).sorted()))"
            )
        }
        return true
    }

    /// Who claims the name, and from where.
    private mutating func checkAnswers() {
        var survey = NameSurvey()
        for heard in evidence.inquiry.heard {
            _ = survey.received(
                Message(flags: .response, answers: [heard.record]),
                from: .init(heard.arrival.sender, on: heard.arrival.interface))
        }
        for dispute in NameDisputes(survey).disputes.prefix(Self.mostNamed) {
            add(
                .twoHosts,
                "\(dispute.name) is claimed by \(dispute.sides.count) hosts: \(dispute.sides.joined(separator: "; "))")
        }
        let others = evidence.inquiry.answers.filter { $0.arrival.way != .own }
        guard !others.isEmpty, !evidence.isOwn else { return }
        if others.allSatisfy({ !$0.arrival.isNear }) {
            add(
                .offLink,
                "\(Self.hosts(others)) answers, which is in no network of the link: a reflector or VPN, or the host has an "
                    + "address of another network")
        }
        // Some responders, as python-zeroconf, send 255 to the group alone.
        let group = others.filter { $0.arrival.way == .group }
        if !group.isEmpty, group.allSatisfy({ $0.arrival.hops.map { $0 != 255 } ?? false }) {
            add(
                .hopLimit,
                "\(Self.hosts(group)) answers with hop limit \(group.first?.arrival.hops ?? 0) and not 255 (RFC 6762 §11): "
                    + "it was forwarded, or the responder is wrong; some programs ignore it")
        }
    }

    /// Whether packets get through.
    private mutating func checkPath() {
        let deaf = evidence.inquiry.deafLinks.subtracting(evidence.deaf).sorted()
        if !deaf.isEmpty {
            add(
                .multicastNotHeard,
                "hosts on \(Self.list(deaf.map(\.text))) answer to a port of its own, but nothing to the group is heard: a "
                    + "firewall of this machine drops UDP port 5353, or IGMP snooping keeps the group away; browsing misses news"
            )
        }
        if let sample = evidence.inquiry.sample, sample.answered < Self.leastAnswers {
            add(
                .loss,
                "\(sample.host) answered \(sample.answered) of \(AnswerSample.size) questions: packets are lost on the way, or it cannot keep up"
            )
        }
    }

    /// Whether the service is complete.
    private mutating func checkService() {
        let inquiry = evidence.inquiry
        // What is missing may be what was lost.
        guard !diagnoses.contains(where: { $0.code == .loss }) else { return }
        if case .type = evidence.subject {
            let unresolved = Set(inquiry.answers.compactMap { $0.record.data.pointer }).filter {
                inquiry.isUnanswered($0)
            }
            if !unresolved.isEmpty {
                add(
                    .noServiceRecord,
                    "\(Self.list(unresolved.map(\.text).sorted())) is listed, but no one has an SRV record for it")
            }
            return
        }
        guard case .service(let instance) = evidence.subject else { return }
        if inquiry.records(of: evidence.subject.listing, [.ptr]).isEmpty {
            add(
                .notListed,
                "no one lists it among \(instance.type): browsing does not show it (its PTR record is missing)")
        }
        if inquiry.records(of: evidence.subject.name, [.txt]).isEmpty {
            add(.noTextRecord, "it has no TXT record (RFC 6763 §6 asks for one): many programs do not resolve it")
        }
        let services = evidence.services
        if services.allSatisfy({ $0.port == 0 }) {
            add(.noPort, "its port is 0: it says of itself that it cannot be used (RFC 6763 §8)")
        }
        for host in evidence.hosts.prefix(Self.mostNamed) where inquiry.records(of: host, [.a, .aaaa]).isEmpty {
            let sender = services.first { $0.host == host }?.heard.arrival.sender.description ?? ""
            add(.noAddress, "\(sender) names the host \(host.text), for which no one has an address")
        }
    }

    /// Whether avahi-daemon says what the wire says.
    private mutating func checkCache() {
        let services = evidence.services
        for cached in evidence.cached.sorted(by: { $0.interface < $1.interface }).prefix(Self.mostNamed) {
            let text = "\(cached.host) port \(cached.port?.rawValue ?? 0)"
            let heard = services.filter { $0.heard.arrival.interface == cached.interface }
            if services.isEmpty {
                add(
                    .avahiDiffers,
                    "avahi-daemon has \(text) on \(cached.interface.text), which no one confirms: the host is gone, or was "
                        + "cut off; avahi-daemon forgets it when its TTL is over")
            } else if !heard.isEmpty,
                !heard.contains(where: {
                    $0.port == cached.port?.rawValue ?? 0 && HostName(observed: $0.host.text) == cached.host
                })
            {
                add(
                    .avahiDiffers,
                    "avahi-daemon has \(text) on \(cached.interface.text), which is not what the wire says")
            }
        }
    }

    /// Whether it can be dialled.
    private mutating func checkConnections() {
        let refused = evidence.destinations.compactMap { item in item.refusal.map { (item.endpoint, $0) } }
        if !refused.isEmpty, refused.count == evidence.destinations.count {
            let reasons = refused.map { "\($0.0.address): \($0.1.description)" }
            let canBeAllowed = refused.contains { $0.1.canBeAllowed }
            add(
                .addressRefused,
                "none of its addresses is dialled: \(Self.list(reasons))"
                    + (canBeAllowed ? " (--allow permits it)" : ""))
        }
        let attempts = evidence.attempts
        guard !attempts.isEmpty, !attempts.contains(where: { $0.outcome == .connected }) else { return }
        let failures = Self.list(attempts.map { "\($0.endpoint.text): \($0.reason ?? $0.outcome.rawValue)" })
        if attempts.allSatisfy({ $0.outcome == .timeout }) {
            add(.connectionTimeout, "no connection: \(failures); a firewall drops TCP, or the host is off")
        } else {
            add(.connectionRefused, "no connection: \(failures); no program listens there, or a firewall refuses")
        }
    }

    private static func hosts(_ heard: [Heard]) -> String {
        var known: Set<IPAddress> = []
        return list(heard.map(\.arrival.sender).filter { known.insert($0).inserted }.map(\.description))
    }

    private static func list(_ items: [String]) -> String {
        let shown = items.prefix(mostNamed).joined(separator: ", ")
        return items.count > mostNamed ? "\(shown) and \(items.count - mostNamed) more" : shown
    }
}

extension NameInquiry {
    /// A service that no SRV record was heard of, although it was asked for.
    fileprivate func isUnanswered(_ service: DomainName) -> Bool {
        targets.contains(service) && records(of: service, [.srv]).isEmpty
    }
}

extension RecordData {
    fileprivate var pointer: DomainName? { if case .ptr(let name) = self { name } else { nil } }
}

extension NetworkInterface {
    /// Safe for a terminal.
    var text: String { name.escapedForTerminal }
}

extension Endpoint {
    /// `10.0.0.7 port 80`, with the scope's name; safe for a terminal.
    var text: String { "\(address.text(on: interface)) port \(port)" }
}

extension IPAddress {
    /// With the interface's name where it means something there alone; safe for a terminal.
    func text(on interface: NetworkInterface?) -> String {
        text(scopedTo: isLinkLocal && family == .ipv6 ? interface : nil).escapedForTerminal
    }
}

extension String {
    /// Whether another name may be meant: other capitals, or a slip.
    fileprivate func isSimilar(to other: String) -> Bool {
        let (one, other) = (lowercased(), other.lowercased())
        return one == other || Suggestion.nearest(to: one, among: [other]) != nil
    }
}
#endif
