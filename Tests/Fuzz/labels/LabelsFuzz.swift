import DNSSD
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON

// libFuzzer's target: any bytes are a runtime's answer about a container, its list, its stream of events, and a unit's file. What is read is bounded,
// wants no more than labels may, says what is wrong in words that are safe for a terminal, and is the same in whatever pieces it comes. Run by `make fuzz`.

private let sources: [LabelSource] = [.podman, .docker, .systemd]
private let permitted = (try? OfferedAlias("wiki"))?.name
private let http = try? ServiceType("_http._tcp")

/// Tests one input: a byte of choices, and what is read.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let all = Array(UnsafeBufferPointer(start: data, count: count))
    guard let choices = all.first else { return 0 }
    let bytes = Array(all.dropFirst())
    var grants = LabelGrants()
    (grants.types, grants.aliases) = (Set([http].compactMap(\.self)), Set([permitted].compactMap(\.self)))
    if choices & 1 != 0 { grants.names = .all }
    grants.number = Int(choices >> 3)
    events(bytes, readsTraefik: choices & 2 != 0)
    var subjects = [unit(bytes)]
    if let json = try? JSONReader.read(bytes) {
        subjects += [Labelled(inspection: json, readsTraefik: choices & 2 != 0)].compactMap(\.self)
        let ids = RuntimeEvents.ids(ofList: json, readsTraefik: choices & 2 != 0) ?? []
        check(ids.allSatisfy(RuntimeEvents.isID), "no id, for a path")
    }
    for subject in subjects { read(subject, grants) }
    board(subjects, bytes, grants)
    return 0
}

private func unit(_ bytes: [UInt8]) -> Labelled {
    var labels = UnitLabels()
    labels.read(String(decoding: bytes, as: UTF8.self))
    check(labels.labels.count <= Labelled.maximumLabels + 1, "too many labels of a unit")
    var subject = Labelled(name: String(decoding: bytes.prefix(300), as: UTF8.self))
    (subject.labels, subject.isUp, subject.isUnit) = (labels.labels, true, true)
    return subject
}

private func read(_ subject: Labelled, _ grants: LabelGrants) {
    check(subject.labels.count <= Labelled.maximumLabels + 1 && subject.name.utf8.count <= 1024, "not bounded")
    let reading = LabelReading(subject, grants)
    check(reading.problems.count <= 8 && reading.requests.count <= 17, "too much")
    for problem in reading.problems {
        check(problem.escapedOnce == problem && problem.utf8.count < 8192, "not for a terminal: \(problem)")
    }
    for request in reading.requests {
        let service = request.service
        if service.isAlias {
            check(service.name.text.lowercased() == permitted?.text, "an alias that it may not have: \(service.name)")
        } else {
            check(service.type == http, "a type that it may not publish")
            check(grants.names != nil || service.name.text == subject.name, "a name that it may not have")
            check(request.check == nil || subject.isUnit, "an image has the daemon send requests")
        }
    }
}

/// Whole, and cut where its own bytes say.
private func events(_ bytes: [UInt8], readsTraefik: Bool) {
    func isKnown(_ id: String) -> Bool { id.utf8.count % 2 == 0 }
    var (whole, parts) = (RuntimeEvents(readsTraefik: readsTraefik), RuntimeEvents(readsTraefik: readsTraefik))
    let expected = whole.received(bytes + [0x0A], isKnown: isKnown)
    var (rest, found): (ArraySlice<UInt8>, [RuntimeEvents.Event]) = ((bytes + [0x0A])[...], [])
    while let first = rest.first {
        found += parts.received(Array(rest.prefix(Int(first % 32) + 1)), isKnown: isKnown)
        rest = rest.dropFirst(Int(first % 32) + 1)
    }
    check(expected == found, "pieces say something else")
    for case .changed(let id) in found { check(RuntimeEvents.isID(id), "no id, for a path") }
}

/// Each byte is what a source says of a container, and how much time goes by.
private func board(_ subjects: [Labelled], _ bytes: [UInt8], _ grants: LabelGrants) {
    var board = LabelBoard(sources, grants)
    var now = Duration.zero
    for (index, byte) in bytes.prefix(256).enumerated() {
        let (source, id) = (sources[Int(byte >> 6) % 3], "\(byte & 3)")
        var subject = subjects[index % subjects.count]
        subject.isUp = byte & 4 != 0
        switch (byte >> 3) & 7 {
        case 0, 1, 2: board.saw(subject, id, of: source)
        case 3: board.stopped(id, of: source)
        case 4: board.listed([id], of: source, at: now)
        case 5: board.failed(source, "away", at: now)
        case 6: _ = board.notTold(id, "no answer", of: source)
        default: now += .seconds(Int(byte & 31))
        }
        let turn = board.turn(at: now)
        check(turn.requests.count <= grants.number, "more than may be published")
        check(turn.next.map { $0 > now } ?? true, "it never comes to rest")
        for status in board.statuses(of: sources) {
            check(status.refused.count <= 64 && status.services <= grants.number, "more than may be told")
        }
    }
}
