import DNSMessage
import DNSSD

// RFC 6762 §5, §6.1, §10, §18 and RFC 6763: how long records live for those who look for services, and what else they ask and read.
extension Rule {
    static let living: [Rule] = [
        Rule(
            153, .must, "10", "A record that is said again lives on from then",
            "Services vanish though they announce themselves"
        ) { bench in
            try bench.search()
            let said = try bench.found(Bench.records(ttl: 6))
            try bench.pass(max(0, 4 - (bench.now - said.at)))
            let again = try bench.offer(Bench.records(ttl: 6))
            let gone = try bench.shown(isThere: false, after: said.at, within: again.at + 5.3 - bench.now)
            try bench.expect(gone == nil, "gone \(bench.milliseconds((gone?.at ?? 0) - again.at)) after that")
        },
        Rule(
            154, .must, "10", "A shorter TTL that is said later counts",
            "What leaves early is listed until the longer life ends"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.pass(1.5)
            let said = try bench.offer(Bench.records(ttl: 5))
            let gone = try bench.shown(isThere: false, after: said.at, within: 13)
            try bench.expect(gone != nil, "it is there 13 s later")
            try bench.expect(
                (gone?.at ?? 0) - said.at > 4.5, "gone after \(bench.milliseconds((gone?.at ?? 0) - said.at))")
        },
        Rule(
            155, .experience, "10.2", "A list whose records have the cache-flush bit hides no other service",
            "One faulty device takes all services of its type away"
        ) { bench in
            try bench.search()
            try bench.found()
            try bench.pass(1.5)
            let records = Bench.records("anna", port: 9101, of: .two).map { record in
                var record = record
                record.flushesCache = true
                return record
            }
            let said = try bench.offer(records, from: .two)
            try bench.expect(
                try bench.shown("anna", after: said.at, within: 4) != nil, "the second one is not found")
            try bench.expect(
                try bench.shown(isThere: false, after: said.at, within: 3) == nil, "the first one is gone")
        },
        Rule(
            156, .should, "5.2", "It asks again before the SRV record of a service that it shows ends",
            "Services are listed, and cannot be reached any more"
        ) { bench in
            try bench.need(.follow)
            try bench.search()
            let records = Bench.records().map { record in
                var record = record
                if record.type == .srv { record.ttl = 20 }
                return record
            }
            let said = try bench.found(records)
            try bench.pass(20.5)
            let asked = bench.said(since: said.mark).contains { packet in
                15.5...20.4 ~= packet.at - said.at
                    && packet.questions.contains {
                        $0.name == Names.instance("tony") && ($0.type == .srv || $0.type == .any)
                    }
            }
            try bench.expect(asked, "no question in the last fifth of the life")
        },
        Rule(
            157, .should, "6.1", "What NSEC denies is not asked for",
            "Each IPv4 printer is asked for IPv6 addresses for ever"
        ) { bench in
            try bench.search()
            let host = Names.name("played-\(Station.one.hardware[5]).local")
            let records = Bench.records().filter { $0.type != .aaaa }
            let nsec = ResourceRecord(host, .nsec, .nsec(next: host, types: [.a]), ttl: 120, flushesCache: true)
            let said = try bench.found(records + [nsec])
            try bench.pass(4)
            let asked = bench.said(since: said.mark).flatMap(\.questions).contains {
                $0.name == host && ($0.type == .aaaa || $0.type == .any)
            }
            try bench.expect(!asked, "asked for AAAA")
        },
        Rule(
            158, .experience, "RFC 6763 4.1", "A list's record that names something of another type shows no service",
            "Services of other types are listed, and cannot be used"
        ) { bench in
            try bench.search()
            let other = Names.instance("anna", of: Names.name("_other._tcp.local"))
            let said = try bench.offer([ResourceRecord(Names.type, .ptr, .ptr(other), ttl: 4500)], from: .two)
            try bench.expectDisbelief(of: "anna", since: said.at)
        },
        Rule(
            159, .must, "18.14", "Names that are not compressed are read", "Services of simple devices are not found"
        ) { bench in
            try bench.search()
            let at = bench.now
            try bench.send(Bench.uncompressed(Bench.records()))
            try bench.expect(try bench.shown(after: at, within: 4) != nil, "not found")
        },
        Rule(
            160, .must, "18", "What it says is well formed", "Others cannot read its questions"
        ) { bench in
            try bench.search()
            try bench.found([Bench.records()[0]])
            try bench.pass(8)
            for packet in bench.said() where packet.source.port == Group.port {
                try bench.expect(packet.message != nil, "\(packet.bytes.count) bytes that are no message")
            }
        },
        Rule(
            161, .experience, "5.3", "A packet asks each question once", "Packets are larger than they need be"
        ) { bench in
            try bench.search()
            try bench.found([Bench.records()[0]])
            try bench.pass(8)
            for packet in bench.said() where packet.isQuery {
                let asked = packet.questions.map { RecordKey($0.name, $0.type) }
                try bench.expect(Set(asked).count == asked.count, "one of \(asked.count) questions twice")
            }
        },
        Rule(
            162, .should, "7.1", "What others say of other types is not listed as known",
            "Each question carries what nobody asked for"
        ) { bench in
            try bench.search()
            try bench.found()
            let (type, mark) = (Names.name("_other._tcp.local"), bench.mark)
            let strange = ResourceRecord(type, .ptr, .ptr(Names.instance("anna", of: type)), ttl: 4500)
            try bench.offer([strange], from: .two)
            try bench.pass(12)
            let listed = bench.said(since: mark).filter(\.isQuery).flatMap(\.answers)
            try bench.expect(!listed.contains { $0.name == type }, "listed")
        },
    ]
}

extension Bench {
    /// A response whose names are all whole.
    fileprivate static func uncompressed(_ records: [ResourceRecord]) -> [UInt8] {
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
            stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        var message: [UInt8] = [0, 0, 0x84, 0, 0, 0] + bytes(UInt16(clamping: records.count)) + [0, 0, 0, 0]
        for record in records {
            let data: [UInt8] =
                switch record.data {
                case .ptr(let name): Array(name.wire)
                case .srv(let priority, let weight, let port, let target):
                    bytes(priority) + bytes(weight) + bytes(port) + Array(target.wire)
                case .txt(let text): text
                case .a(let bits): bytes(bits)
                case .aaaa(let high, let low): bytes(high) + bytes(low)
                default: []
                }
            message += Array(record.name.wire) + bytes(record.type.rawValue)
            message += bytes(UInt16(record.flushesCache ? 0x8001 : 1)) + bytes(record.ttl)
            message += bytes(UInt16(clamping: data.count)) + data
        }
        return message
    }
}
