import DNSMessage
import DNSSD
import MulticastEngine

// libFuzzer's target: any bytes are a query of DNS, or none, and every answer can be read, is to that query, and is no longer than its way allows.
// Records of hostile links are among what is found. Any order of requests at the desk: each is answered once. Run by `make fuzz`.

private let local = (try? DomainName(presentation: "local")) ?? .root
private let link = NetworkInterface(index: 2, name: "eth0")

/// Tests one input: a byte of choices, and a query.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let all = Array(UnsafeBufferPointer(start: data, count: count))
    guard let choices = all.first else { return 0 }
    let bytes = Array(all.dropFirst())
    desk(bytes)
    let transport = choices & 1 == 0 ? DNSQuery.Transport.datagram : .stream
    let asker =
        choices & 2 == 0
        ? DNSAsker.thisMachine
        : .neighbour(.v4(IPv4Address(bits: 0xAC11_0002)), link)
    switch DNSQuery.read(bytes, by: transport) {
    case .ignored: check(bytes.count < 12 || bytes.count > DNSQuery.longest || bytes[2] >> 7 == 1, "a query is ignored")
    case .faulty(let answer):
        check(answer.count <= bytes.count, "a fault's answer is longer than what has it")
        read(answer, bytes)
    case .query(let query):
        // Whose name is in the header's bytes, by a pointer, is as long as these.
        let echo = query.length + 12
        for short in [query.over, query.refused, query.later] {
            check(short.count <= echo, "amplified")
            check(read(short, bytes).questions == [query.question], "another question")
        }
        let found = records(Int(choices >> 2) * 4, of: query, bytes)
        for answer in [query.none(in: local, isName: true), query.answer(found, to: asker, in: local)] {
            check(transport == .stream || answer.count <= DNSQuery.longestDatagram, "too long for a datagram")
            let message = read(answer, bytes)
            check(message.questions == [query.question], "another question")
            check(
                message.answers.allSatisfy { $0.ttl <= DNSQuery.longestLife && !$0.flushesCache }, "kept for too long")
            check(!message.flags.contains(.truncated) || message.answers.isEmpty, "cut, and not empty")
        }
    }
    return 0
}

/// Reads an answer.
@discardableResult
private func read(_ answer: [UInt8], _ query: [UInt8]) -> Message {
    guard let message = try? Message(reading: answer) else { fatalError("an answer cannot be read") }
    check(message.flags.contains(.response) && answer[..<2] == query[..<2], "an answer to another query")
    return message
}

/// What is found: made for the question, and whatever the query has for records.
private func records(_ number: Int, of query: DNSQuery, _ bytes: [UInt8]) -> [DeskRecord] {
    let name = query.question.name
    let made = (0..<number).map { index -> ResourceRecord in
        switch index % 4 {
        case 0: ResourceRecord(name, .a, .a(UInt32(index) << 24 | 7), ttl: UInt32(index) * 60)
        case 1: ResourceRecord(name, .aaaa, .aaaa(high: UInt64(index) << 56, low: 1), ttl: 4500)
        case 2: ResourceRecord(name, .txt, .txt([3, 97, 61, UInt8(truncatingIfNeeded: index)]), ttl: 4500)
        default: ResourceRecord(name, .ptr, .ptr(local), ttl: 120)
        }
    }
    let own = (try? Message(reading: bytes)).map { $0.answers + $0.authorities + $0.additionals } ?? []
    return (made + own).map { DeskRecord($0, on: link, isNear: $0.ttl % 2 == 0) }
}

/// Four bytes are a step at the desk: who asks for what, what is heard, and how much time goes by.
private func desk(_ bytes: [UInt8]) {
    var table = DeskTable<Int>()
    var (now, waiting, ticket) = (Duration.zero, Set<Int>(), 0)
    func finish(_ done: DeskTable<Int>.Done) {
        for ticket in done.tickets { check(waiting.remove(ticket) != nil, "answered twice") }
    }
    for index in stride(from: 0, to: bytes.count - 3, by: 4) {
        let step = bytes[index..<index + 4].map { $0 }
        guard let name = try? DomainName(labels: [[step[0] % 16], Array("local".utf8)]) else { continue }
        let requests = [RecordRequest.addresses(of: name), RecordRequest(name, [.srv, .txt]), .list(of: name)]
        let request = requests[Int(step[1]) % 3]
        let known = Set(request.types.enumerated().filter { step[2] >> UInt8($0.offset) & 1 == 1 }.map(\.element))
        ticket += 1
        let asker: DeskAsker =
            step[1] & 0x80 == 0 ? .user(UInt32(step[1])) : .neighbour(.v4(IPv4Address(bits: UInt32(step[1]))))
        let wanted = request.types[Int(step[2] >> 4) % request.types.count]
        switch table.ask(request, wanted: wanted, ticket, by: asker, known: known, at: now) {
        case .answer, .refuse: break
        case .ask, .wait: waiting.insert(ticket)
        }
        if step[2] & 0x80 != 0, let done = table.learned(known, of: request, at: now) { finish(done) }
        now += .milliseconds(Int(step[3]))
        for done in table.takeDue(at: now, known: { _ in known }) { finish(done) }
    }
    for done in table.takeDue(at: now + .seconds(1), known: { _ in [] }) { finish(done) }
    check(waiting.isEmpty && table.deadline == nil, "not answered")
}
