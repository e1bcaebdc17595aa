#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem

/// A host that is looked up: by its name, or by an address.
struct HostArgument {
    private enum Kind {
        case name
        /// Of the interface alone that a scope names.
        case address(scope: String?)
    }

    /// As the command line says it.
    let text: String
    /// Whose records answer.
    let question: DomainName
    private let kind: Kind

    /// - Throws: if the text is neither an address nor a name.
    init(_ text: String) throws {
        self.text = text
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let first = parts.first, let address = IPAddress(first), let name = DomainName(reverse: address) {
            if parts.count == 2, parts[1].isEmpty || address.family == .ipv4 {
                throw Parsing.Failure("a scope is an interface's name, behind an IPv6 address")
            }
            question = name
            let scope = parts.count == 2 ? parts[1] : nil
            kind = .address(scope: scope)
            return
        }
        question = try QueryCommand.name(text)
        kind = .name
    }

    var isBelowLocal: Bool {
        guard case .name = kind, text.contains(".") else { return false }
        return question.isAskedOnLink && !question.isReverse && question.labels.count > 1
    }

    /// The interface that a scope names and this machine has not; nil where it has.
    func missingInterface(among interfaces: [LocalInterface]) -> String? {
        guard case .address(let scope?) = kind, UInt32(scope) == nil, !interfaces.contains(where: { $0.name == scope })
        else { return nil }
        return scope
    }

    /// - Parameter family: of the addresses that are wanted; nil for both.
    func questions(_ family: IPAddress.Family?) -> [Question] {
        guard case .name = kind else { return [Question(question, .ptr)] }
        return (family == .ipv6 ? [] : [Question(question, .a)]) + (family == .ipv4 ? [] : [Question(question, .aaaa)])
    }

    /// Whether an answer of a link counts.
    func accepts(_ interface: NetworkInterface?) -> Bool {
        guard case .address(let scope?) = kind else { return true }
        return interface.map { $0.name == scope || String($0.index) == scope } ?? false
    }
}

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
    /// - Returns: whether every host was found; the others are reported on standard error.
    /// - Throws: why a host could not be asked for, where none was found.
    func show(_ hosts: [HostArgument]) async throws -> Bool {
        let answers = try await questions.ask(hosts.flatMap { $0.questions(family) }.uniqued())
        let found = hosts.map { lines(of: $0, in: answers.found) }
        let worst = found.allSatisfy(\.isEmpty) ? hosts.first { answers.failures[$0.question] != nil } : nil
        for (host, lines) in zip(hosts, found) {
            try show(lines, of: host)
            // The caller reports the worst, and a command that was stopped says nothing.
            guard lines.isEmpty, host.question != worst?.question, !session.stop.isRequested else { continue }
            try session.tell(absence(of: host, answers.failures[host.question]))
        }
        if let worst, let failure = answers.failures[worst.question] { throw failure }
        return !found.contains(where: \.isEmpty)
    }

    private func absence(of host: HostArgument, _ failure: CommandError?) -> CommandError {
        let name = host.text.escapedForTerminal
        guard let failure else {
            return CommandError(.notFound, "no host \(name) answered within \(questions.limit.inSeconds) s")
        }
        return CommandError(failure.status, "\(name): \(failure.message)", advice: failure.advice)
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

    private func show(_ lines: [Line], of host: HostArgument) throws {
        guard session.json else {
            for line in lines {
                let link = line.interface?.name ?? "-"
                try session.show(Record(.init(host.text, 24), .init(safe: line.value, 24), .init(link, 0)))
            }
            return
        }
        try session.output.json(.hosts) { json in
            for line in lines {
                json.line("host") { object in
                    object.member("name", line.address == nil ? line.value : host.text)
                    object.member("address", line.address == nil ? host.text : line.value)
                    if let address = line.address { object.member("family", address.family.rawValue) }
                    if let interface = line.interface { object.member("interface", interface.name) }
                }
            }
        }
    }
}
#endif
