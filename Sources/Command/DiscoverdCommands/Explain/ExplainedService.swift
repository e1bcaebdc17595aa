#if Commands
internal import CommandText
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import MulticastEngine

extension Explanation {
    /// Whether the service is complete.
    mutating func checkService() {
        let missing = missing
        // What is missing may be what was lost.
        guard !diagnoses.contains(where: { $0.code == .loss }) else { return }
        if let sample = evidence.inquiry.sample, sample.verdict == .unclear, !missing.isEmpty {
            return add(
                .loss,
                "\(sample.host) answered \(sample.answered) of \(sample.asked) questions: packets are lost on the way, or it "
                    + "limits its answers; what is missing is not known")
        }
        for diagnosis in missing { add(diagnosis.code, diagnosis.message) }
        guard evidence.inquiry.isPartial else { return }
        let text = "more is said of \(evidence.name) than is kept: what is missing there is not known"
        if case .type = evidence.subject { note(text) } else { add(.incomplete, text) }
    }

    /// What the service lacks, as far as all that was said of it is known.
    private var missing: [Diagnosis] {
        let inquiry = evidence.inquiry
        let services = evidence.services
        var missing: [Diagnosis] = []
        func lacks(_ name: DomainName?, _ types: [RecordType]) -> Bool {
            inquiry.records(of: name, types).isEmpty && !inquiry.isPartial(name, types)
        }
        switch evidence.subject {
        case .host: break
        case .type:
            let unresolved = Set(inquiry.answers.compactMap { $0.record.data.pointer }).filter {
                inquiry.targets.contains($0) && lacks($0, [.srv])
            }
            if !unresolved.isEmpty {
                let names = Self.list(unresolved.map(\.text).sorted())
                missing.append(Diagnosis(.noServiceRecord, "\(names) is listed, but no one has an SRV record for it"))
            }
        case .service(let instance):
            if lacks(evidence.subject.listing, [.ptr]) {
                missing.append(
                    Diagnosis(
                        .notListed,
                        "no one lists it among \(instance.type): browsing does not show it (its PTR record is missing)")
                )
            }
            if lacks(evidence.subject.name, [.txt]) {
                missing.append(
                    Diagnosis(
                        .noTextRecord,
                        "it has no TXT record (RFC 6763 §6 asks for one): many programs do not resolve it"))
            }
            if services.allSatisfy({ $0.port == 0 }), !inquiry.isPartial {
                missing.append(
                    Diagnosis(.noPort, "its port is 0: it says of itself that it cannot be used (RFC 6763 §8)"))
            }
            for host in evidence.hosts.prefix(Self.mostNamed) where lacks(host, [.a, .aaaa]) {
                let sender = services.first { $0.host == host }?.heard.arrival.sender.description ?? ""
                missing.append(
                    Diagnosis(.noAddress, "\(sender) names the host \(host.text), for which no one has an address"))
            }
        }
        return missing
    }

    /// Whether avahi-daemon says what the wire says.
    mutating func checkCache() {
        let services = evidence.services
        guard !evidence.inquiry.isPartial else { return }
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
                    "avahi-daemon has \(text) on \(cached.interface.text), which no one on the network says")
            }
        }
    }

    /// Whether it can be dialled.
    mutating func checkConnections() {
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
        // What was not refused may have dropped.
        if attempts.contains(where: { $0.outcome == .refused && !$0.hasNoRoute }) {
            add(.connectionRefused, "no connection: \(failures); no program listens there, or a firewall refuses")
        } else if attempts.contains(where: { $0.outcome == .timeout }) {
            add(.connectionTimeout, "no connection: \(failures); a firewall drops TCP, or the host is off")
        } else {
            add(
                .noRoute,
                "no connection: \(failures); no route leads there, or the host is off, or a firewall or router says so")
        }
    }
}

extension RecordData {
    fileprivate var pointer: DomainName? { if case .ptr(let name) = self { name } else { nil } }
}

extension Explanation {
    /// No one says that the name is there.
    mutating func explainSilence() {
        let (inquiry, name) = (evidence.inquiry, evidence.name)
        let listing = inquiry.records(of: evidence.subject.listing, [.ptr])
        guard !evidence.isCut else { return addCut() }
        if inquiry.isWithdrawn {
            add(.withdrawn, "\(name) is being withdrawn: only goodbyes (TTL 0) were heard of it")
        } else if let other = evidence.otherFamily {
            let asked: IPAddress.Family = other.family == .ipv4 ? .ipv6 : .ipv4
            add(
                .otherFamily,
                "no one answers for \(name) over \(asked.name), but over \(other.family.name) "
                    + "\(Self.list(other.hosts.map(\.description))) does: leave out -\(asked.name.suffix(1))")
        } else if let first = listing.first {
            add(
                .noServiceRecord,
                "\(first.arrival.sender) lists \(name), but no one has an SRV record for it: it cannot be resolved")
        } else if evidence.isOwnHost {
            add(
                .noResponder,
                "\(name) is this machine, and nothing on it answers for its name: avahi-daemon does not run, hangs, or has "
                    + "another name; 'discoverd doctor' tells")
        } else if !evidence.direct.isEmpty {
            add(
                .multicastNotDelivered,
                "\(Self.list(evidence.direct.map(\.description).sorted())) answers when asked directly, but not through the "
                    + "group: multicast does not get there (a firewall there, or IGMP snooping in a switch or access point)"
            )
        } else if !suggest() {
            let isSilent = inquiry.hosts.isEmpty && evidence.census?.hasOthers != true
            let links = Self.list(evidence.links.map(\.interface.text))
            if isSilent, !evidence.isEchoed {
                add(
                    .multicastNotHeard,
                    "nothing that is sent to the group on \(links) is heard, not even what this machine itself sends: a firewall "
                        + "of this machine drops UDP port 5353. 'discoverd doctor' says how to open it")
            } else if isSilent {
                add(
                    .silentLink,
                    "no other host was heard on \(links), whatever was asked: no one else there speaks mDNS or offers anything, or "
                        + "multicast does not pass (client isolation, a firewall, another network)")
            } else {
                let what = evidence.unknownWord == nil ? name : "a service, type or host named \(name)"
                add(
                    .noAnswer,
                    "no one on \(links) answers for \(what): it is not offered, or its machine is off, in another VLAN, or drops "
                        + "UDP port 5353, or its responder hangs. Ping that machine, and run 'discoverd doctor' there")
            }
        }
        if let responder = evidence.silentResponder, !evidence.isOwnHost {
            add(
                .noResponder,
                "\(responder) of this machine answers no question: nothing that this machine publishes is found; "
                    + "'systemctl restart avahi-daemon' helps where it hangs")
        }
        if evidence.isListedByDaemon, !inquiry.isWithdrawn {
            note("discoverd's daemon still lists \(name): it was there, and its records have not run out")
        }
        if !evidence.hasResponder, !evidence.isOwnHost {
            note("no mDNS responder runs on this machine: nothing answers for what it publishes itself")
        }
        // What a goodbye ends, avahi-daemon keeps for a second (RFC 6762 §10.1); a host that answers directly is there, and one that is not heard may be.
        if !inquiry.isWithdrawn, evidence.direct.isEmpty, evidence.isEchoed { checkCache() }
    }

    /// Looks for a name that the user may have meant.
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
            let near = census.services.filter { $0 != instance && $0.name.text.isSimilar(to: instance.name.text) }
                .sorted {
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
}

extension String {
    /// Whether one name may be a slip for the other, or differs only in case.
    fileprivate func isSimilar(to other: String) -> Bool {
        let (one, other) = (lowercased(), other.lowercased())
        return one == other || Suggestion.nearest(to: one, among: [other]) != nil
    }
}
#endif
