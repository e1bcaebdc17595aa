import DNSMessage
import DNSSD

/// What a program that looks for services has shown its user.
package struct Shown: Hashable, Sendable, Codable {
    /// Seconds of the medium's clock.
    package var at: Double
    /// Found or changed, else gone.
    package var isThere: Bool
    package var name: String
    /// Once it is resolved.
    package var port: UInt16?

    package init(at: Double, isThere: Bool, name: String, port: UInt16?) {
        (self.at, self.isThere, self.name, self.port) = (at, isThere, name, port)
    }
}

// What rules of queriers do.
extension Bench {
    static let question = Question(Names.type, .ptr)

    /// The records of a service that the suite plays.
    static func records(
        _ name: String = "tony", port: UInt16 = 9100, ttl: UInt32 = 4500, of station: Station = .one,
        type: DomainName = Names.type
    ) -> [ResourceRecord] {
        let (instance, host) = (Names.instance(name, of: type), Names.name("played-\(station.hardware[5]).local"))
        var records = [
            ResourceRecord(type, .ptr, .ptr(instance), ttl: ttl),
            ResourceRecord(
                instance, .srv, .srv(priority: 0, weight: 0, port: port, target: host), ttl: min(ttl, 120),
                flushesCache: true),
            ResourceRecord(instance, .txt, .txt([3, 0x61, 0x3D, 0x62]), ttl: ttl, flushesCache: true),
        ]
        if case .v4(let address) = station.v4 {
            records.append(ResourceRecord(host, .a, .a(address.bits), ttl: min(ttl, 120), flushesCache: true))
        }
        if case .v6(let address, _) = station.v6 {
            let data = RecordData.aaaa(high: address.high, low: address.low)
            records.append(ResourceRecord(host, .aaaa, data, ttl: min(ttl, 120), flushesCache: true))
        }
        return records
    }

    /// Has it look for the type, and waits for its first question.
    @discardableResult
    func search() throws -> Packet {
        try need(.browse)
        try begin { try subject.browse("_conf._tcp") }
        let first = try wait(12, for: Self.isQuestion)
        guard let first else { throw Deviation(seen: "no question within 12 s") }
        return first
    }

    /// A question for the list, of the querier itself.
    static func isQuestion(_ packet: Packet) -> Bool {
        packet.isQuery && packet.source.port == Group.port
            && packet.questions.contains { $0.name == Names.type && $0.type == .ptr }
    }

    func questions(since mark: Int = 0, over family: IPAddress.Family = .ipv4) -> [Packet] {
        said(since: mark, over: family).filter(Self.isQuestion)
    }

    /// Tells of a service, over both families.
    @discardableResult
    func offer(_ records: [ResourceRecord], from station: Station = .one) throws -> Said {
        let said = try tell(records, from: station)
        try tell(records, from: station, over: .ipv6)
        return said
    }

    /// Waits until its user is told of a service.
    func shown(
        _ name: String = "tony", isThere: Bool = true, port: UInt16? = nil, after time: Double, within seconds: Double
    ) throws -> Shown? {
        let end = now + seconds
        while true {
            let found = try subject.shown().first {
                $0.at >= time && $0.isThere == isThere && $0.name == name && (port == nil || $0.port == port)
            }
            if found != nil || now >= end { return found }
            try pass(0.1)
        }
    }

    /// Nothing that was said since then is shown.
    func expectDisbelief(of name: String = "tony", since time: Double) throws {
        try expect(try shown(name, after: time, within: 2.5) == nil, "it was believed")
    }

    /// Answers until it is found.
    @discardableResult
    func found(_ records: [ResourceRecord] = Bench.records(), _ name: String = "tony") throws -> Said {
        let said = try offer(records)
        guard try shown(name, after: said.at, within: 5) != nil else {
            throw Deviation(seen: "not found within 5 s")
        }
        return said
    }
}
