package import DNSMessage

/// Probes for many names in as few packets as possible (RFC 6762 §8.1): a question of type ANY for each, with what is claimed in the
/// authority section (§8.2).
package enum ProbePackets {
    /// - Parameters:
    ///   - claims: each name with its unique records.
    ///   - wantsUnicast: whether answers may come by unicast, because somebody here hears them.
    ///   - limit: the most bytes of a packet, unless one name needs more.
    package static func make(
        _ claims: [(name: DomainName, records: [ResourceRecord])], wantsUnicast: Bool, limit: Int
    ) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var rest = claims[...]
        while let first = rest.popFirst() {
            var group = [first]
            // A writer that takes questions and records as they come counts their bytes.
            var sizes = MessageWriter(limit: limit, compression: .multicast)
            let fits = Self.count(first, &sizes)
            while fits, let next = rest.first, Self.count(next, &sizes) {
                group.append(next)
                rest.removeFirst()
            }
            if let packet = write(group, wantsUnicast, limit) {
                packets.append(packet)
            } else if group.count > 1 {
                packets += group.compactMap { write([$0], wantsUnicast, limit) ?? write([$0], wantsUnicast, Self.most) }
            } else {
                write(group, wantsUnicast, Self.most).map { packets.append($0) }
            }
        }
        return packets
    }

    /// One name with records larger than that goes in fragments (RFC 6762 §17).
    private static let most = Message.maximumMulticastLength - 60

    private static func write(
        _ group: [(name: DomainName, records: [ResourceRecord])], _ wantsUnicast: Bool, _ limit: Int
    ) -> [UInt8]? {
        let message = Message(
            questions: group.map { Question($0.name, .any, wantsUnicastResponse: wantsUnicast) },
            authorities: group.flatMap { claim in
                claim.records.map { record in
                    var record = record
                    // Probes flush nothing (RFC 6762 §10.2).
                    record.flushesCache = false
                    return record
                }
            })
        return try? message.written(limit: limit, compression: .multicast)
    }

    /// Counts a question as a record without data, whose header is longer by six bytes: what is counted is never too little.
    private static func count(_ claim: (name: DomainName, records: [ResourceRecord]), _ sizes: inout MessageWriter)
        -> Bool
    {
        let question = ResourceRecord(claim.name, .any, .other([]), ttl: 0)
        return ([question] + claim.records).allSatisfy { sizes.add($0, to: .authority) }
    }
}
