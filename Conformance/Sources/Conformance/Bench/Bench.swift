package import DNSMessage
package import DNSSD

/// Where a rule is judged: a link, an implementation on its other side, and all that was said since it was started.
package final class Bench {
    package let medium: any Medium
    package let subject: any Implementation
    /// All datagrams since the last start, in order.
    package private(set) var log: [Packet] = []
    private var running: [Service]?
    private var isUsed = false
    /// What a usual start looked like: recorded once for all rules that judge it.
    private var recorded: Run?
    /// The subject's address of hardware, once it has spoken.
    private var hardware: [UInt8]?

    package init(_ medium: any Medium, _ subject: any Implementation) {
        (self.medium, self.subject) = (medium, subject)
    }

    /// A rule is broken: what was seen instead.
    package struct Deviation: Error { package let seen: String }
    /// A rule cannot be judged here: why.
    package struct Unjudged: Error { package let reason: String }

    package func expect(_ holds: Bool, _ seen: @autoclosure () -> String) throws {
        if !holds { throw Deviation(seen: seen()) }
    }

    package func need(_ abilities: Ability...) throws {
        for ability in abilities where !subject.abilities.contains(ability) {
            throw Unjudged(reason: "the driver has no way for it: \(ability.rawValue)")
        }
    }

    // MARK: Time and packets

    package var now: Double { medium.now }
    /// A place in the log: what comes after it.
    package var mark: Int { log.count }

    /// Lets time pass.
    package func pass(_ seconds: Double) throws {
        let end = now + seconds
        while let packet = try medium.next(until: end) { keep(packet) }
    }

    private func keep(_ packet: Packet) {
        // Anything else on this link is no business of multicast DNS.
        guard packet.source.port == Group.port || packet.destination.port == Group.port else { return }
        if hardware == nil, packet.source.port == Group.port { hardware = packet.source.hardware }
        log.append(packet)
    }

    /// Waits for a datagram of the subject, also among those since a mark.
    package func wait(_ seconds: Double, since mark: Int? = nil, for isIt: (Packet) -> Bool) throws -> Packet? {
        let end = now + seconds
        var place = mark ?? log.count
        while true {
            while place < log.count {
                if !log[place].isOurs, isIt(log[place]) { return log[place] }
                place += 1
            }
            guard let packet = try medium.next(until: end) else { return nil }
            keep(packet)
        }
    }

    /// What the subject has said since a mark.
    package func said(since mark: Int = 0, over family: IPAddress.Family? = nil) -> [Packet] {
        log.dropFirst(mark).filter { !$0.isOurs && (family == nil || $0.family == family) }
    }

    package func responses(since mark: Int = 0, over family: IPAddress.Family? = nil) -> [Packet] {
        said(since: mark, over: family).filter(\.isResponse)
    }

    /// Says something as a simulated host; to the group, or to an address of the subject.
    package func send(
        _ bytes: [UInt8], from station: Station = .one, over family: IPAddress.Family = .ipv4,
        port: UInt16 = Group.port,
        to address: IPAddress? = nil, on link: Int = 0
    ) throws {
        var target = Group.end(family)
        if let address {
            guard let hardware else { throw Unjudged(reason: "it has said nothing yet") }
            target = Packet.End(hardware: hardware, address: address, port: Group.port)
        }
        let source = Packet.End(hardware: station.hardware, address: station.address(family), port: port)
        let packet = Packet(at: now, from: source, to: target, bytes: bytes, link: link, isOurs: true)
        log.append(packet)
        try medium.send(packet)
    }

    package func send(
        _ message: Message, from station: Station = .one, over family: IPAddress.Family = .ipv4,
        port: UInt16 = Group.port, to address: IPAddress? = nil, on link: Int = 0
    ) throws {
        try send(
            try message.written(compression: .multicast), from: station, over: family, port: port, to: address, on: link
        )
    }

    // MARK: The subject

    /// Starts it anew with these services.
    package func start(_ services: [Service] = [Service()]) throws {
        try need(.publish)
        try begin {
            running = services
            try subject.start(services)
        }
    }

    /// Starts it anew.
    func begin(_ start: () throws -> Void) throws {
        if running != nil { try subject.stop() }
        try pass(0.2)
        (log, isUsed, running) = ([], true, [])
        try start()
    }

    package func stop() throws {
        if running != nil { try subject.stop() }
        running = nil
    }

    /// What was said from its start on until its announcements were over, with one service.
    package func recording() throws -> Run {
        if let recorded { return recorded }
        try start([Service(subtypes: subject.abilities.contains(.subtypes) ? ["_sub1"] : [])])
        let run = try settle()
        try pass(max(0, 9 - (now - run.began)))
        isUsed = false
        let whole = Run(self, began: run.began)
        recorded = whole
        return whole
    }

    /// Waits until all that was started is announced for a second time.
    @discardableResult
    package func settle(within seconds: Double = 15) throws -> Run {
        let began = now
        let ports = Set((running ?? []).map(\.port))
        var seen: Set<UInt16> = []
        _ = try wait(seconds, since: 0) { packet in
            if packet.isResponse, packet.isToGroup { seen.formUnion(packet.records.compactMap(\.port)) }
            return seen.isSuperset(of: ports)
        }
        guard seen.isSuperset(of: ports) else {
            throw Deviation(
                seen: "not announced within \(Int(seconds)) s: \(ports.subtracting(seen).count) of \(ports.count)")
        }
        try pass(3.6)
        return Run(self, began: log.first?.at ?? began)
    }

    /// It publishes one service, and has been quiet for more than a second; whatever rule came before.
    package func usual() throws -> Run {
        _ = try recording()
        if isUsed {
            try start([Service(subtypes: subject.abilities.contains(.subtypes) ? ["_sub1"] : [])])
            _ = try settle()
            isUsed = false
        }
        try quiet()
        return Run(self, began: log.first?.at ?? now)
    }

    /// Says that this rule has changed the subject: the next one begins with a new one.
    package func spoil() { isUsed = true }

    /// Waits until nothing was said by either side for 1.1 s.
    package func quiet() throws {
        let limit = now + 20
        while now < limit {
            let last = log.last?.at ?? -.infinity
            let left = last + 1.1 - now
            if left <= 0.000_001 { return }
            try pass(left)
        }
    }
}

extension ResourceRecord {
    /// Of a SRV record.
    var port: UInt16? { if case .srv(_, _, let port, _) = data { port } else { nil } }
    var target: DomainName? { if case .srv(_, _, _, let target) = data { target } else { nil } }
    var pointer: DomainName? { if case .ptr(let name) = data { name } else { nil } }
    var text: [UInt8]? { if case .txt(let bytes) = data { bytes } else { nil } }
    /// The same set of records.
    func isLike(_ other: ResourceRecord) -> Bool { name == other.name && type == other.type && data == other.data }
}
