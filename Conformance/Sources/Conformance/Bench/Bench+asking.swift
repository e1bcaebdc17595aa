import DNSMessage
import DNSSD

/// When something was said, and where it is in the log.
struct Said {
    let mark: Int
    let at: Double
}

// What many rules do.
extension Bench {
    /// Asks.
    @discardableResult
    func ask(
        _ questions: [Question], known: [ResourceRecord] = [], flags: Message.Flags = [], id: UInt16 = 0,
        from station: Station = .one, over family: IPAddress.Family = .ipv4, port: UInt16 = Group.port,
        to address: IPAddress? = nil
    ) throws -> Said {
        let said = Said(mark: mark, at: now)
        try send(
            Message(id: id, flags: flags, questions: questions, answers: known), from: station, over: family,
            port: port,
            to: address)
        return said
    }

    /// Says records as another host.
    @discardableResult
    func tell(
        _ records: [ResourceRecord], from station: Station = .one, over family: IPAddress.Family = .ipv4,
        port: UInt16 = Group.port, to address: IPAddress? = nil
    ) throws -> Said {
        let said = Said(mark: mark, at: now)
        try send(
            Message(flags: [.response, .authoritative], answers: records), from: station, over: family, port: port,
            to: address)
        return said
    }

    /// The first response with such a record among its answers.
    func answer(
        _ said: Said, within seconds: Double = 0.7, toGroup: Bool = true, over family: IPAddress.Family = .ipv4,
        _ isIt: (ResourceRecord) -> Bool
    ) throws -> Packet? {
        try wait(seconds, since: said.mark) { packet in
            packet.isResponse && packet.isToGroup == toGroup && packet.family == family
                && packet.answers.contains(where: isIt)
        }
    }

    func answer(_ said: Said, _ question: Question, within seconds: Double = 0.7, toGroup: Bool = true) throws
        -> Packet?
    {
        try answer(said, within: seconds, toGroup: toGroup) {
            $0.name == question.name && (question.type == .any || $0.type == question.type) && $0.ttl > 0
        }
    }

    /// Nothing answers a question, to the group or to the asker.
    func silence(_ said: Said, for seconds: Double = 0.7, _ what: String, _ isIt: (ResourceRecord) -> Bool) throws {
        let heard = try wait(seconds, since: said.mark) { $0.isResponse && $0.records.contains(where: isIt) }
        try expect(heard == nil, "\(what): answered after \(milliseconds((heard?.at ?? 0) - said.at))")
    }

    func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }

    /// Starts it, and waits for the first probe for its service.
    func firstProbe(_ services: [Service] = [Service()]) throws -> (packet: Packet, name: DomainName) {
        try start(services)
        var name: DomainName?
        let found = try wait(12) { packet in
            guard packet.isProbe else { return false }
            name =
                packet.questions.map(\.name).first { $0.isWithin(Names.type) && $0 != Names.type }
                ?? packet.proposed.first { $0.name == Names.type }?.pointer
            return name != nil
        }
        guard let found, let name else { throw Deviation(seen: "no probe for the service within 12 s") }
        return (found, name)
    }

    /// Waits for a probe for another name of the type than this one.
    func otherName(than names: Set<DomainName>, within seconds: Double, since mark: Int) throws -> (
        packet: Packet, name: DomainName
    )? {
        var name: DomainName?
        let found = try wait(seconds, since: mark) { packet in
            guard packet.isProbe || packet.isResponse else { return false }
            name =
                (packet.questions.map(\.name)
                + packet.records.filter { $0.ttl > 0 }.flatMap { [$0.name, $0.pointer ?? .root] })
                .first { $0.isWithin(Names.type) && $0 != Names.type && !names.contains($0) }
            return name != nil
        }
        return found.flatMap { packet in name.map { (packet, $0) } }
    }

    /// Whether a service is told of under a name.
    func isTold(_ name: DomainName, within seconds: Double, since mark: Int) throws -> Packet? {
        try wait(seconds, since: mark) { packet in
            packet.isResponse && packet.records.contains { $0.name == name && $0.type == .srv && $0.ttl > 0 }
        }
    }

    /// Says, as another host, what conflicts with the service that it has established (RFC 6762 §9).
    func contradict(_ run: Run) throws -> Said {
        spoil()
        return try tell([rival(run.instance)])
    }

    /// It takes what was said for no conflict.
    func expectNoProbe(since said: Said) throws {
        try expect(try wait(1.5, since: said.mark) { $0.isProbe } == nil, "it probes anew")
    }

    /// What another host says of a name: another port, another machine.
    func rival(_ name: DomainName, ttl: UInt32 = 120) -> ResourceRecord {
        ResourceRecord(
            name, .srv, .srv(priority: 0, weight: 0, port: 99, target: Names.name("rival.local")), ttl: ttl,
            flushesCache: true)
    }
}
