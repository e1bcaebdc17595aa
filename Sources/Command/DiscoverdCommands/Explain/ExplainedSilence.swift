#if Commands
internal import CommandText
internal import DNSMessage
internal import DNSSD
internal import MulticastEngine

extension Explanation {
    /// No one says that the name is there.
    mutating func explainSilence() {
        let (inquiry, name) = (evidence.inquiry, evidence.name)
        let listing = inquiry.records(of: evidence.subject.listing, [.ptr])
        guard !evidence.isCut else { return addCut() }
        if inquiry.isWithdrawn {
            add(.withdrawn, "\(name) is being withdrawn: only goodbyes (TTL 0) were heard of it")
        } else if let other = evidence.otherFamily {
            let isIPv4 = other.family == .ipv4
            add(
                .otherFamily,
                "no one answers for \(name) over \(isIPv4 ? "IPv6" : "IPv4"), but over \(isIPv4 ? "IPv4" : "IPv6") "
                    + "\(Self.list(other.hosts.map(\.description))) does: leave out \(isIPv4 ? "-6" : "-4")")
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
                        + "of this machine drops UDP port 5353")
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
        // What a goodbye ends, avahi-daemon keeps for a second (RFC 6762 §10.1); who answers directly is there, and so may be who is not heard.
        if !inquiry.isWithdrawn, evidence.direct.isEmpty, evidence.isEchoed { checkCache() }
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
    /// Whether another name may be meant: other capitals, or a slip.
    fileprivate func isSimilar(to other: String) -> Bool {
        let (one, other) = (lowercased(), other.lowercased())
        return one == other || Suggestion.nearest(to: one, among: [other]) != nil
    }
}
#endif
