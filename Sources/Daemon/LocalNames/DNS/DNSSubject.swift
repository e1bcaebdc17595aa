package import DNSMessage
internal import DNSSD
internal import Discovery
package import MulticastEngine

/// What a question is about: names below `local` (RFC 6762 §3), and addresses in networks of the links (§4).
package enum DNSSubject: Hashable, Sendable {
    /// The links are asked; the record type that is waited for is one of the request's.
    case links(RecordRequest, wanted: RecordType, zone: DomainName)
    /// Nothing of that type is on a link.
    case nothing(zone: DomainName)
    /// Other servers' names: they are asked of nobody.
    case foreign
}

extension OwnNetworks {
    package func subject(of question: Question) -> DNSSubject {
        guard question.recordClass == .internet, !question.wantsUnicastResponse else { return .foreign }
        let name = question.name
        if name.isOfLink {
            // `local` itself has no records: libnss-mdns and avahi-daemon take a SOA record of it for a zone of the company's.
            guard name.isHostOfLink, let local = DomainName.ofLinks else { return .nothing(zone: name) }
            let request: RecordRequest? =
                switch question.type {
                case .a, .aaaa, .cname: .addresses(of: name)
                case .srv, .txt: RecordRequest(name, [.srv, .txt])
                case .ptr: .list(of: name)
                case .any: Self.all(of: name)
                default: nil
                }
            guard let request else { return .nothing(zone: local) }
            let wanted = request.types.contains(question.type) ? question.type : request.types[0]
            return .links(request, wanted: wanted, zone: local)
        }
        guard let block = CIDR(reverse: name), let zone = zone(of: block, name) else { return .foreign }
        guard block.prefixLength == block.address.bitWidth, [.ptr, .any].contains(question.type) else {
            return .nothing(zone: zone)
        }
        return .links(RecordRequest(name, [.ptr]), wanted: .ptr, zone: zone)
    }

    /// "Any" is what the name is for (RFC 8482 §4.1): a type's list, a service, a host.
    private static func all(of name: DomainName) -> RecordRequest {
        let underscores = name.labels.prefix(2).map { $0.first == UInt8(ascii: "_") }
        if underscores.first == true { return .list(of: name) }
        return underscores.last == true ? RecordRequest(name, [.srv, .txt]) : .addresses(of: name)
    }

    /// The reverse zone of a link's network that has a name: of a prefix between two labels, one for each value of the label.
    private func zone(of block: CIDR, _ name: DomainName) -> DomainName? {
        let bits = block.address.family == .ipv4 ? 8 : 4
        let length = lengths(of: block.address).map { ($0 + bits - 1) / bits * bits }.filter {
            $0 <= block.prefixLength
        }
        .max()
        guard let length else { return nil }
        return try? DomainName(labels: name.labels.suffix(length / bits + 2))
    }
}

extension CIDR {
    /// The addresses whose names are this one or lie below it (RFC 1035 §3.5, RFC 3596 §2.5); nil for any other name.
    package init?(reverse name: DomainName) {
        var labels = name.labels.map { String(decoding: $0, as: UTF8.self).lowercased() }
        guard labels.popLast() == "arpa", let family = labels.popLast() else { return nil }
        let digits = labels.reversed().map { $0 }
        switch family {
        case "in-addr":
            let bytes = digits.compactMap { UInt8($0) }
            // No "+1", and no "01", which another name stands for.
            guard bytes.count == digits.count, bytes.count <= 4, bytes.map({ String($0) }) == digits else { return nil }
            let bits = (bytes + Array(repeating: 0, count: 4 - bytes.count)).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            self.init(containing: .v4(IPv4Address(bits: bits)), prefixLength: bytes.count * 8)
        case "ip6":
            let nibbles = digits.compactMap { $0.utf8.count == 1 ? UInt8($0, radix: 16) : nil }
            guard nibbles.count == digits.count, nibbles.count <= 32 else { return nil }
            let all = nibbles + Array(repeating: 0, count: 32 - nibbles.count)
            func half(_ part: ArraySlice<UInt8>) -> UInt64 { part.reduce(0) { $0 << 4 | UInt64($1) } }
            let address = IPv6Address(high: half(all[..<16]), low: half(all[16...]))
            self.init(containing: .v6(address, scope: 0), prefixLength: nibbles.count * 4)
        default: return nil
        }
    }
}
