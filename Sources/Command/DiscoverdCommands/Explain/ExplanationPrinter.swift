#if Commands
internal import CommandText
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import MulticastEngine

/// Prints an explanation: what was asked, what came, and what is wrong.
struct ExplanationPrinter {
    /// The most answers that are shown.
    private static let most = 100

    let explanation: Explanation
    let session: Session

    private var evidence: Evidence { explanation.evidence }
    private var cached: [Evidence.CachedService] { evidence.cached.sorted { $0.interface < $1.interface } }

    func show() throws {
        if session.json { return try session.output.json { write(to: &$0) } }
        for diagnosis in explanation.diagnoses {
            try line("wrong", colour: .red, diagnosis.code.rawValue, diagnosis.message)
        }
        if explanation.diagnoses.isEmpty { try line("ok", colour: .green, "nothing is wrong with \(evidence.name)") }
        for note in explanation.notes { try line("note", note) }
        try asked()
        // A host answers over IPv4 and over IPv6.
        let answers = Answer.merged(answers) { $0.hops == $1.hops }
        for answer in answers.prefix(Self.most) { try show(answer) }
        if answers.count > Self.most { try line("answer", "and \(answers.count - Self.most) more") }
        if let sample = evidence.inquiry.sample {
            try line("path", "\(sample.host) answered \(sample.answered) of \(sample.asked) further questions")
        }
        for host in evidence.direct.map(\.description).sorted() {
            try line("direct", "\(host) answered when asked alone")
        }
        for cached in cached {
            try line("avahi", "has \(cached.host) port \(cached.port?.rawValue ?? 0)", "on \(cached.interface.text)")
        }
        for item in evidence.destinations {
            if let refusal = item.refusal { try line("refused", item.endpoint.text, refusal.description) }
        }
        for attempt in evidence.attempts {
            let reason = attempt.reason.map { " (\($0))" } ?? ""
            try line(
                "connect", attempt.endpoint.text, "\(attempt.outcome.rawValue)\(reason)", "\(attempt.milliseconds) ms")
        }
    }

    private func asked() throws {
        for link in evidence.links {
            let families = link.families.map(\.name).joined(separator: " and ")
            try line("asked", evidence.name, "on \(link.interface.text)", "over \(families)")
        }
    }

    private func show(_ answer: Answer) throws {
        let (record, arrival) = (answer.heard.record, answer.heard.arrival)
        let hops = arrival.hops == 255 ? "" : ", hop limit \(arrival.hops.map { "\($0)" } ?? "unknown")"
        try line(
            "answer", "\(record.name.text) \(record.type) \(record.dataText)", "TTL \(answer.ttl)",
            "from \(answer.senders.joined(separator: ", "))", "on \(arrival.interface.text)",
            answer.ways.joined(separator: " and ") + hops, "after \(answer.heard.time.milliseconds) ms")
    }

    /// - Parameter texts: safe for a terminal.
    private func line(_ stage: String, colour: Colour? = nil, _ texts: String...) throws {
        var record = Record(.init(stage, 8, colour))
        record.fields += texts.map { .init(safe: $0, 0) }
        try session.show(record)
    }

    /// A record, from whom it came, and how.
    private struct Answer {
        /// Its first arrival.
        let heard: Heard
        var senders: [String]
        var ways: [String]
        /// The group's: unicast answers say 10 s at most (RFC 6762 §6.7).
        var ttl: UInt32

        init(_ heard: Heard) {
            let arrival = heard.arrival
            (self.heard, ways, ttl) = (heard, [arrival.way.name], heard.record.ttl)
            senders = [arrival.sender.text(on: arrival.interface)]
        }

        /// Each record once for each link, and for each of the origins that differ.
        static func merged(_ answers: [Answer], where isSame: (Arrival, Arrival) -> Bool) -> [Answer] {
            var merged: [Answer] = []
            for answer in answers {
                let known = merged.firstIndex {
                    let (one, two) = ($0.heard, answer.heard)
                    return one.record.name == two.record.name && one.record.data == two.record.data
                        && one.arrival.interface == two.arrival.interface
                        && (one.record.ttl == 0) == (two.record.ttl == 0) && isSame(one.arrival, two.arrival)
                }
                guard let known else {
                    merged.append(answer)
                    continue
                }
                merged[known].senders = (merged[known].senders + answer.senders).uniqued()
                merged[known].ways = (merged[known].ways + answer.ways).uniqued()
                merged[known].ttl = max(merged[known].ttl, answer.ttl)
            }
            return merged
        }
    }

    /// Each record of each host once.
    private var answers: [Answer] { Answer.merged(evidence.inquiry.heard.map(Answer.init)) { $0.sender == $1.sender } }

    private func write(to json: inout JSONWriter) {
        let (evidence, answers) = (evidence, answers)
        json.line("explanation") { object in
            object.member("kind", evidence.unknownWord == nil ? evidence.subject.kind : "word")
            object.member("name", evidence.name)
            object.array("asked", of: evidence.links) { array, link in
                array.object { object in
                    object.member("interface", link.interface.name)
                    object.member("families", link.families.map(\.rawValue))
                }
            }
            object.array("answers", of: answers) { array, answer in array.object { write(answer, to: &$0) } }
            if let sample = evidence.inquiry.sample {
                object.object("path") { object in
                    object.member("host", sample.host.description)
                    object.member("asked", sample.asked)
                    object.member("answered", sample.answered)
                }
            }
            object.array("avahi", of: cached) { array, cached in
                array.object { object in
                    object.member("interface", cached.interface.name)
                    object.member("host", cached.host.description)
                    object.member("port", Int(cached.port?.rawValue ?? 0))
                }
            }
            writeConnections(to: &object)
            object.member("notes", explanation.notes)
            object.array("diagnoses", of: explanation.diagnoses) { array, diagnosis in
                array.object { object in
                    object.member("code", diagnosis.code.rawValue)
                    object.member("message", diagnosis.message)
                }
            }
        }
    }

    private func write(_ answer: Answer, to object: inout JSONWriter) {
        let (record, arrival) = (answer.heard.record, answer.heard.arrival)
        object.member("name", record.name.description)
        object.member("type", record.type.description)
        object.member("ttl", Int(answer.ttl))
        object.member("data", record.dataText)
        object.member("from", arrival.sender.text(on: arrival.interface))
        object.member("interface", arrival.interface.name)
        object.member("ways", answer.ways)
        object.member("hops", arrival.hops.map { Int($0) })
        object.member("milliseconds", Int(clamping: answer.heard.time.milliseconds))
    }

    private func writeConnections(to object: inout JSONWriter) {
        let refused = evidence.destinations.compactMap { item in item.refusal.map { (item.endpoint, $0) } }
        object.array("refused", of: refused) { array, refused in
            array.object { object in
                object.member("address", refused.0.address.text(on: refused.0.interface))
                object.member("reason", refused.1.description)
            }
        }
        object.array("attempts", of: evidence.attempts) { array, attempt in
            array.object { object in
                object.member("address", attempt.endpoint.address.text(on: attempt.endpoint.interface))
                object.member("port", Int(attempt.endpoint.port.rawValue))
                object.member("outcome", attempt.outcome.rawValue)
                object.member("milliseconds", Int(clamping: attempt.milliseconds))
                object.key("reason")
                if let reason = attempt.reason { object.string(reason) } else { object.null() }
            }
        }
    }
}

extension Arrival.Way {
    fileprivate var name: String {
        switch self {
        case .answer: "unicast"
        case .group: "multicast"
        case .own: "own"
        }
    }
}

extension InquirySubject {
    fileprivate var kind: String {
        switch self {
        case .service: "service"
        case .type: "type"
        case .host: "host"
        }
    }
}

extension IPAddress.Family {
    /// For people.
    var name: String { self == .ipv4 ? "IPv4" : "IPv6" }
}
#endif
