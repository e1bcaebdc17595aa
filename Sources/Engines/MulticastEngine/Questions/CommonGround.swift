package import DNSMessage

// What avahi-daemon 0.8 reads. It throws away the whole packet that has anything else in it, and answers no question of it: one device with
// a name in Latin-1 would hide the services of every Avahi host from who lists that name among what it knows.

extension DomainName {
    /// Whether every host reads the name: its labels are UTF-8 without a zero byte.
    package var isReadByAll: Bool {
        // The root's is the only zero byte then: no other label is empty.
        if wire.allSatisfy({ $0 < 0x80 }) { return wire.count { $0 == 0 } == 1 }
        return labels.allSatisfy { !$0.contains(0) && String(validating: $0, as: UTF8.self) != nil }
    }
}

extension ResourceRecord {
    /// Whether every host reads the record.
    package var isReadByAll: Bool {
        guard name.isReadByAll else { return false }
        switch data {
        case .ptr(let name), .cname(let name), .ns(let name), .srv(_, _, _, let name): return name.isReadByAll
        case .other: return !Self.parsed.contains(type)
        case .a, .aaaa, .txt, .nsec, .hinfo, .soa, .tsig: return true
        }
    }

    /// Types whose data it looks at. Data of these that breaks their format has no case of its own.
    private static let parsed: Set<RecordType> = [.a, .aaaa, .ptr, .srv, .txt, .cname, .ns, .hinfo]
}
