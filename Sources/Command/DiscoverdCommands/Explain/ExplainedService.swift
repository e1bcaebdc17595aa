#if Commands
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
                    "avahi-daemon has \(text) on \(cached.interface.text), which is not what the wire says")
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
#endif
