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
            if isSilent {
                add(
                    .silentLink,
                    "no other host was heard on \(links), whatever was asked: no one else there speaks mDNS, or multicast does "
                        + "not pass (client isolation, a firewall, another network)")
            } else if evidence.unknownWord != nil {
                add(
                    .noAnswer,
                    "no service, type or host on \(links) has the name \(name), though other hosts are heard: it is not there"
                )
            } else {
                add(.noAnswer, "no one on \(links) answers for \(name), though other hosts are heard: it is not there")
            }
        }
        if !evidence.hasResponder, !evidence.isOwnHost {
            note("no mDNS responder runs on this machine: nothing answers for what it publishes itself")
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
            let near = census.services.filter { $0.name.text.isSimilar(to: instance.name.text) }.sorted {
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
