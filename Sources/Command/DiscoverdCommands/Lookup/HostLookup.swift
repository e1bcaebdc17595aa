#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoveryJSON

/// Looks hosts up, and prints what is found.
struct HostLookup {
    private let session: Session
    private let questions: RecordQuestions
    private let family: IPAddress.Family?

    init(_ session: Session, _ place: NetworkOptions, within limit: Duration) {
        self.session = session
        questions = RecordQuestions(session: session, place: place, limit: limit)
        family = place.family
    }

    /// Prints the addresses of names, and the names of addresses.
    /// - Returns: whether each host was found; what was not is said on standard error.
    func show(_ hosts: [HostArgument]) async throws -> Bool {
        var asked: Set<Question> = []
        let answers = try await questions.ask(
            hosts.flatMap { $0.questions(family) }.filter { asked.insert($0).inserted })
        var isComplete = true
        for host in hosts {
            let lines = lines(of: host, in: answers)
            for line in lines { try show(line, of: host) }
            guard lines.isEmpty else { continue }
            isComplete = false
            session.notices.failure(
                CommandError(
                    .notFound, "no host \(host.text.escapedForTerminal) answered within \(questions.limit.inSeconds) s")
            )
        }
        return isComplete
    }

    private struct Line: Hashable {
        let value: String
        let address: IPAddress?
        let interface: NetworkInterface?
    }

    private func lines(of host: HostArgument, in answers: [RecordQuestions.Answer]) -> [Line] {
        // An alias is as good as the name; servers say what it stands for.
        var names: Set<DomainName> = [host.question]
        for case (let name, .cname(let other)) in answers.map({ ($0.record.name, $0.record.data) })
        where names.contains(name) { names.insert(other) }
        var known: Set<Line> = []
        return answers.filter { names.contains($0.record.name) && host.accepts($0.interface) }.compactMap { answer in
            let line: Line
            if case .ptr(let name) = answer.record.data {
                line = Line(value: String(name.description.dropLast()), address: nil, interface: answer.interface)
            } else if let address = IPAddress(answer.record.data, scope: answer.interface?.index ?? 0) {
                let text = address.text(
                    scopedTo: address.isLinkLocal && address.family == .ipv6 ? answer.interface : nil)
                line = Line(value: text, address: address, interface: answer.interface)
            } else {
                return nil
            }
            return known.insert(line).inserted ? line : nil
        }
    }

    private func show(_ line: Line, of host: HostArgument) throws {
        let interface = line.interface
        guard session.json else {
            var record = Record()
            record.add(host.text, width: 24)
            record.add(safe: line.value, width: 24)
            record.add(interface?.name ?? "-", width: 0)
            return try session.output.line(record.line(for: session.terminal))
        }
        try session.output.json { json in
            json.line("host") { object in
                object.member("name", line.address == nil ? line.value : host.text)
                object.member("address", line.address == nil ? host.text : line.value)
                if let address = line.address { object.member("family", address.family.rawValue) }
                if let interface { object.member("interface", interface.name) }
            }
        }
    }
}

extension HostArgument {
    /// The name that was asked for, in escaped form.
    fileprivate var name: String { String(question.description.dropLast()) }
}
#endif
