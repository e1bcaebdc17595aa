package import DNSMessage

/// Responses in packets below the link's MTU; a record larger than that goes alone, in fragments (RFC 6762 §17).
package enum ResponsePackets {
    /// The bytes of the largest message that carries one record.
    private static let most = Message.maximumMulticastLength - 60
    /// What another order of the same names may cost: they are counted as they come, and written answers first.
    private static let reserve = 32

    /// An answer, and what its reader will ask for next.
    package typealias Answer = (record: ResourceRecord, additions: [ResourceRecord])

    /// Responses to the group (RFC 6762 §18): an additional record that does not fit is left out.
    package static func make(_ answers: [Answer], limit: Int) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var rest = answers[...]
        while let first = rest.popFirst() {
            var sizes = MessageWriter(limit: limit - reserve, compression: .multicast)
            guard count(first, &sizes) else {
                // Alone, with as much beside it as fits.
                write([first], limit: limit).map { packets.append($0) }
                continue
            }
            var group = [first]
            while let next = rest.first, count(next, &sizes) {
                group.append(next)
                rest.removeFirst()
            }
            write(group, limit: limit).map { packets.append($0) }
        }
        return packets
    }

    /// The same of records alone, each of which is written once: announcements and goodbyes can be thousands.
    package static func make(_ records: [ResourceRecord], limit: Int) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var writer = MessageWriter(flags: [.response, .authoritative], limit: limit, compression: .multicast)
        func flush() {
            if !writer.isEmpty { packets.append(writer.bytes) }
            writer = MessageWriter(flags: [.response, .authoritative], limit: limit, compression: .multicast)
        }
        for record in records where !writer.add(record, to: .answer) {
            flush()
            if !writer.add(record, to: .answer) { write([(record, [])], limit: limit).map { packets.append($0) } }
        }
        flush()
        return packets
    }

    private static func count(_ answer: Answer, _ sizes: inout MessageWriter) -> Bool {
        ([answer.record] + answer.additions).allSatisfy { sizes.add($0, to: .answer) }
    }

    private static func write(_ group: [Answer], limit: Int) -> [UInt8]? {
        for size in [limit, most] {
            var writer = MessageWriter(flags: [.response, .authoritative], limit: size, compression: .multicast)
            guard group.allSatisfy({ writer.add($0.record, to: .answer) }) else { continue }
            for addition in group.flatMap(\.additions) where writer.bytes.count < limit - reserve {
                let before = writer
                if writer.add(addition, to: .additional), writer.bytes.count > limit { writer = before }
            }
            return writer.bytes
        }
        return nil
    }

    /// One packet for one host: what does not fit is left out.
    /// - Parameter question: of a resolver that does not speak multicast DNS: it gets its id and questions back, records that it
    ///   keeps for 10 s at most, whole names in SRV records, 512 bytes, and TC where that is not all (RFC 6762 §6.7, §18.14).
    /// - Returns: the packet, and how many answers are in it.
    package static func reply(
        _ answers: [ResourceRecord], _ additions: [ResourceRecord], toResolver question: Message?, limit: Int
    ) -> (packet: [UInt8], count: Int) {
        let flags: Message.Flags = [.response, .authoritative]
        var writer = MessageWriter(
            id: question?.id ?? 0, flags: flags, limit: question == nil ? limit : min(limit, resolverLimit),
            compression: question == nil ? .multicast : .unicast)
        for question in question?.questions ?? [] {
            var question = question
            question.wantsUnicastResponse = false
            _ = writer.add(question)
        }
        let form = { (record: ResourceRecord) in question == nil ? record : record.forResolver }
        var count = 0
        for answer in answers {
            guard writer.add(form(answer), to: .answer) else { break }
            count += 1
        }
        if count < answers.count {
            if question != nil { writer.setFlags(flags.union(.truncated)) }
            return (writer.bytes, count)
        }
        for addition in additions where !writer.add(form(addition), to: .additional) { break }
        return (writer.bytes, count)
    }

    /// What a resolver without EDNS takes (RFC 1035 §4.2.1).
    private static let resolverLimit = 512
}

extension ResourceRecord {
    /// As a resolver may have it that knows neither cache-flush bits nor goodbyes (RFC 6762 §6.7).
    fileprivate var forResolver: ResourceRecord {
        var record = self
        (record.ttl, record.flushesCache) = (min(ttl, 10), false)
        return record
    }
}
