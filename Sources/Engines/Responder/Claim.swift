package import DNSMessage
package import DNSSD

/// Whose a claim is. Numbers are those of publications.
package enum ClaimID: Hashable, Sendable {
    /// This machine's name and addresses.
    case host
    /// Its first name, which it asks for while it has another one, with the same addresses.
    case firstName
    /// A service.
    case service(UInt64)
    /// Another name, published with a service or alone: a further one of this machine, or another host's.
    case other(UInt64)
}

/// A name that this machine wants on a link, with all that it says of it: a service, or a host with its addresses.
package struct Claim: Hashable, Sendable {
    /// Seconds that a record is kept which contains a host's name or address (RFC 6762 §10).
    package static let hostTTL: UInt32 = 120
    /// The same of any other record.
    package static let otherTTL: UInt32 = 4500

    /// What a service points to.
    package enum Target: Hashable, Sendable {
        /// This machine, whatever its name is on the link.
        case thisHost
        case host(DomainName)
    }

    package enum Content: Hashable, Sendable {
        case service(target: Target, port: UInt16, txt: [UInt8], type: DomainName, subtypes: [DomainName])
        case addresses([IPAddress], of: Host)
    }

    /// Whose addresses a name has.
    package enum Host: Hashable, Sendable {
        /// This machine's, which lead back to the name when someone asks. Those names are not claimed: an avahi-daemon of another host name
        /// on this machine claims them, and would rename itself for ever.
        case machine
        /// This machine's, under a further name.
        case alias
        /// Another host's.
        case other
    }

    package var name: DomainName
    package var content: Content
    /// The families over which it is said; what this machine says of its own name is always whole.
    package var families: Set<IPAddress.Family>
    /// The claim that must be established first, if there is one.
    package var after: ClaimID?
    /// The host whose service it is: where that one has the name itself, the claim gives way.
    package var original: DomainName?

    /// This machine, with its addresses on a link.
    package init(host name: DomainName, _ addresses: [IPAddress]) {
        self.init(name, .addresses(addresses, of: .machine), nil, after: nil)
    }

    /// Another host, for which this machine answers.
    package init(other name: DomainName, _ addresses: [IPAddress], over family: IPAddress.Family?) {
        self.init(name, .addresses(addresses, of: .other), family, after: nil)
    }

    /// This machine under a further name, with its addresses on a link.
    package init(alias name: DomainName, _ addresses: [IPAddress], over family: IPAddress.Family?) {
        self.init(name, .addresses(addresses, of: .alias), family, after: nil)
    }

    /// Whose addresses it has; nil for a service.
    var host: Host? { if case .addresses(_, let host) = content { host } else { nil } }

    /// A service under a name. Nil if a name is too long.
    package init?(_ service: OfferedService, as name: ServiceName, number: UInt64) {
        let instance = ServiceInstance(name: name, type: service.type, domain: service.domain)
        guard let full = DomainName(instance), let type = DomainName(listing: service.type, in: service.domain) else {
            return nil
        }
        var subtypes: [DomainName] = []
        for label in service.subtypes {
            guard
                let name = try? DomainName(
                    labels: [Array(label.utf8), Array("_sub".utf8)] + type.labels.map(Array.init))
            else { return nil }
            subtypes.append(name)
        }
        var target = Target.thisHost
        if let host = service.host {
            guard let name = try? DomainName(presentation: host.name.text) else { return nil }
            target = .host(name)
        }
        guard let txt = try? TextStrings.data(of: service.txt.strings) else { return nil }
        let after: ClaimID? =
            switch service.host {
            case nil: .host
            case let host?: host.isAnsweredHere ? .other(number) : nil
            }
        self.init(
            full,
            .service(target: target, port: service.port.rawValue, txt: txt, type: type, subtypes: subtypes),
            service.family, after: after)
        original = service.original.flatMap { try? DomainName(presentation: $0.text) }
    }

    /// Has a service point to a host that is there, whoever claims its name.
    package mutating func point(to host: DomainName) {
        guard case .service(_, let port, let txt, let type, let subtypes) = content else { return }
        (content, after) = (.service(target: .host(host), port: port, txt: txt, type: type, subtypes: subtypes), nil)
    }

    private init(_ name: DomainName, _ content: Content, _ family: IPAddress.Family?, after: ClaimID?) {
        (self.name, self.content, self.after) = (name, content, after)
        families = family.map { [$0] } ?? IPAddress.Family.both
    }
}

extension Claim {
    /// Everything that a service claims on a link under a name, its host's addresses first. Empty if a name is too long for DNS.
    /// - Parameter own: this machine's addresses on the link.
    package static func all(of service: OfferedService, as name: ServiceName, number: UInt64, own: [IPAddress])
        -> [(id: ClaimID, claim: Claim)]
    {
        var claims: [(id: ClaimID, claim: Claim)] = []
        if let host = service.host(as: name), host.isAnsweredHere {
            guard let name = try? DomainName(presentation: host.name.text) else { return [] }
            claims.append(
                (
                    .other(number),
                    host.isAlias
                        ? Claim(alias: name, own, over: service.family)
                        : Claim(other: name, host.addresses, over: service.family)
                ))
        }
        guard !service.isAddressRecord else { return claims }
        guard let claim = Claim(service, as: name, number: number) else { return [] }
        return claims + [(.service(number), claim)]
    }
}

extension Claim {
    /// Whether another claim of the same name says the same. The addresses of a machine's aliases are its own, and change one after the other.
    func agrees(with other: Claim) -> Bool { content == other.content || host == .alias && other.host == .alias }

    /// Whether a record of somebody else has the claimed service on the host whose it is.
    func givesWay(to record: ResourceRecord) -> Bool {
        guard let original, record.name == name, case .srv(_, _, _, original) = record.data else { return false }
        return true
    }
}

/// The records of a claim, by what becomes of them.
package struct ClaimedRecords: Sendable {
    /// Of the claimed name, and of nobody else (RFC 6762 §2): probed for, announced and defended.
    package var unique: [ResourceRecord] = []
    /// Others may have such records, too: announced.
    package var shared: [ResourceRecord] = []
    /// What the name has not (RFC 6762 §6.1): said if asked.
    package var negative: [ResourceRecord] = []
    /// Said if asked, and neither claimed nor announced.
    package var quiet: [ResourceRecord] = []
}

extension Claim {
    /// The types of all services (RFC 6763 §9).
    private static let types = DomainName.types(in: .local)
    private static let ofService: TypeBitmap = [.srv, .txt]

    /// The claim's records.
    /// - Parameter host: this machine's name on the link.
    package func records(host: DomainName?) -> ClaimedRecords {
        var records = ClaimedRecords()
        switch content {
        case .service(let target, let port, let txt, let type, let subtypes):
            let target = if case .host(let name) = target { name } else { host ?? .root }
            let srv = RecordData.srv(priority: 0, weight: 0, port: port, target: target)
            records.unique = [
                ResourceRecord(name, .srv, srv, ttl: Self.hostTTL, flushesCache: true),
                ResourceRecord(name, .txt, .txt(txt), ttl: Self.otherTTL, flushesCache: true),
            ]
            records.shared = ([type] + subtypes).map { ResourceRecord($0, .ptr, .ptr(name), ttl: Self.otherTTL) }
            if let types = Self.types {
                records.shared.append(ResourceRecord(types, .ptr, .ptr(type), ttl: Self.otherTTL))
            }
        case .addresses(let addresses, let host):
            for address in addresses {
                let (type, data) = address.record
                records.unique.append(ResourceRecord(name, type, data, ttl: Self.hostTTL, flushesCache: true))
                if host == .machine, let reverse = DomainName(reverse: address) {
                    records.quiet.append(ResourceRecord(reverse, .ptr, .ptr(name), ttl: Self.hostTTL))
                }
            }
        }
        let types =
            if case .service = content { Self.ofService } else { TypeBitmap(Set(records.unique.map(\.type))) }
        let nsec = RecordData.nsec(next: name, types: types)
        records.negative = [ResourceRecord(name, .nsec, nsec, ttl: Self.hostTTL, flushesCache: true)]
        return records
    }
}
