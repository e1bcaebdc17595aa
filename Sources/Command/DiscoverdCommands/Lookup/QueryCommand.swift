#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem
internal import MulticastEngine

struct QueryCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Asks for the records of a name, of any type.",
        discussion: """
            Each line is a record: name, TTL, class, type, data as in a zone file, interface. The TTL is - where it is not known. Data \
            of a type without a form of its own is \\# LENGTH HEX (RFC 3597). Names below local and names of addresses are asked for on the links, \
            others at DNS servers.

            Examples:
              discoverd query printer.local A
              discoverd query 'Tony._http._tcp.local' SRV
              discoverd query _services._dns-sd._udp.local PTR
              discoverd query printer.local TYPE65280 --json
              discoverd query example.org MX
              discoverd query 'Front\\.Door.local' ANY       \\. is a dot within a label
            """
    )

    @Argument(help: "The name; without a dot it is one below local.", transform: Self.name)
    var name: DomainName

    @Argument(
        help: ArgumentHelp(
            "The type, by IANA's name or number: A, AAAA, SRV, TXT, PTR, MX, SOA, HTTPS, ANY, TYPE65, 65.",
            valueName: "type"))
    var typeText: String

    @OptionGroup var time: LookupTime

    @Option(name: .long, help: ServerOption.help)
    var server: String?

    @OptionGroup var place: NetworkOptions
    @OptionGroup var output: OutputOptions

    var common: NoOptions { NoOptions() }

    func needs() throws -> CommandNeeds {
        CommandNeeds(
            daemon: .never, domains: DomainWish(asking: [name], server: server),
            interfaces: try place.interfaces(), more: CommandNeeds.servers(for: [name], server),
            ending: .init(status: .notFound))
    }

    func validate() throws {
        let type = try checkedType()
        guard server == nil else { return }
        let word = String(name.description.dropLast())
        let address = word.hasSuffix(".local") ? String(word.dropLast(".local".count)) : word
        if name.labels.count == 2, case .type = WordKind(word) {
            throw ValidationError(
                "\(word.quotedForMessage) is a type, and query asks for the records of a name: "
                    + "'discoverd query \(word).local \(type)', or 'discoverd browse \(word)'.")
        }
        if IPAddress(address) != nil {
            throw ValidationError(
                "\(address.quotedForMessage) is an address, and query asks for the records of a name: "
                    + "'discoverd resolve \(address)' looks it up.")
        }
    }

    /// Says so where name and type are the wrong way round.
    private func checkedType() throws -> RecordType {
        let first = name.labels.count == 2 ? String(name.description.dropLast(".local.".count)) : ""
        if RecordType(text: typeText) == nil, typeText.contains("."), RecordType(text: first) != nil {
            throw ValidationError(
                "'\(first)' is a record type, which stands behind the name: 'discoverd query \(typeText.escapedForTerminal) \(first)'."
            )
        }
        do {
            return try Self.type(typeText)
        } catch let failure as Parsing.Failure {
            throw ValidationError("\(typeText.quotedForMessage) is no record type to ask for: \(failure.description).")
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let type = try Self.type(typeText)
        let questions = RecordQuestions(session: session, place: place, limit: time.timeout, wantsTTL: true)
        let answers = try await questions.ask([Question(name, type)])
        guard !answers.found.isEmpty else {
            throw answers.failures[name]
                ?? CommandError(
                    .notFound, "no record of type \(type) of \(name) was found within \(time.timeout.inSeconds) s")
        }
        for answer in answers.found { try show(answer, in: session) }
        return .done
    }

    private func show(_ answer: RecordQuestions.Answer, in session: Session) throws {
        let record = answer.record
        guard session.json else {
            let line = Record(
                .init(safe: record.name, 24), .init(answer.ttl.map(String.init) ?? "-", 4),
                .init(safe: record.recordClass == .internet ? "IN" : "CLASS\(record.recordClass.rawValue)", 2),
                .init(safe: record.type, 4), .init(safe: record.dataText, 24), .init(answer.interface?.name ?? "-", 0))
            return try session.show(line)
        }
        try session.output.json { json in
            json.line("record") { object in
                object.member("name", record.name.description)
                object.member("type", record.type.description)
                object.member("class", Int(record.recordClass.rawValue))
                object.member("ttl", answer.ttl.map { Int($0) })
                object.member("data", record.dataText)
                object.decoded(record.data)
                if let interface = answer.interface { object.member("interface", interface.name) }
            }
        }
    }

    /// A name of one label is below `local`.
    static func name(_ text: String) throws -> DomainName {
        let full = text.contains(".") ? text : text + ".local"
        guard let name = try? DomainName(presentation: full) else {
            throw Parsing.Failure(
                "a label has 1 to 63 bytes, a name 255 at most; \\. and \\DDD stand for special bytes")
        }
        return name
    }

    static func type(_ text: String) throws -> RecordType {
        guard let type = RecordType(text: text) else {
            throw Parsing.Failure(
                "it must be one of IANA's names, as A, AAAA, PTR, SRV, TXT, MX, CAA, HTTPS or ANY, or a number from 0 to 65535, as TYPE65"
            )
        }
        // Those that are no data of a name: EDNS, keys and signatures of messages, transfers of zones.
        guard type.rawValue != 0, type != .opt, !(249...252).contains(type.rawValue) else {
            throw Parsing.Failure("no name has records of it")
        }
        return type
    }
}

extension JSONWriter {
    /// What the data consists of, for types that are known.
    fileprivate mutating func decoded(_ data: RecordData) {
        switch data {
        case .srv(let priority, let weight, let port, let target):
            member("priority", Int(priority))
            member("weight", Int(weight))
            member("port", Int(port))
            member("target", target.description)
        case .ptr(let name), .cname(let name), .ns(let name): member("target", name.description)
        case .txt(let bytes):
            key("txt")
            txt(TXTRecord(strings: TextStrings.strings(of: bytes) ?? []))
        default: break
        }
    }
}

extension DomainWish {
    /// The domains to ask about records of these names.
    init(asking names: [DomainName], server: String?) {
        let others = server == nil ? names.filter { !$0.isAskedOnLink } : names
        self.init(server: server)
        domains = others.compactMap { Domain(labels: $0.labels) }
        if others.count < names.count { domains.append(.local) }
    }
}

extension CommandNeeds {
    /// What only `discoverd-daemon` can do where servers are asked about a name that is no other domain: the root, one with bytes that are
    /// not UTF-8, and `local` itself where a server is named.
    static func servers(for names: [DomainName], _ server: String?) -> String? {
        let asked = server == nil ? names.filter { !$0.isAskedOnLink } : names
        return asked.contains { (Domain(labels: $0.labels) ?? .local) == .local } ? "asks DNS servers" : nil
    }
}

/// Asks for records: the links, or DNS servers.
struct RecordQuestions {
    /// A record, and the link that it is of.
    struct Answer {
        let record: ResourceRecord
        let interface: NetworkInterface?
        /// Nil where it is not known: only answers with a shortened one came.
        let ttl: UInt32?
    }

    /// What was found, and why names have no answer.
    struct Answers {
        var found: [Answer] = []
        var failures: [DomainName: CommandError] = [:]

        init(_ found: [Answer] = []) { self.found = found }

        init(_ failure: CommandError, of questions: [Question]) {
            for question in questions { failures[question.name] = failure }
        }
    }

    let session: Session
    let place: NetworkOptions
    let limit: Duration
    private var wish: DomainWish { session.invocation.needs.domains }
    /// The records' own TTLs are wanted.
    var wantsTTL = false

    /// Returns the answers of the links and, for names of other domains, of DNS servers, which are asked at the same time; none where nothing
    /// answered in time. What the ones cannot say takes nothing from what the others do.
    func ask(_ questions: [Question]) async throws -> Answers {
        let isOfLink = { (question: Question) in question.name.isAskedOnLink && wish.server == nil }
        let (ofLink, others) = (questions.filter(isOfLink), questions.filter { !isOfLink($0) })
        let (servers, domains, notices, most) = (session.more, wish, session.notices, limit)
        async let told = Self.ask(servers, others, of: domains, notices, within: most)
        var answers = try await askLinks(ofLink)
        let ofServers = await told
        answers.found += ofServers.found
        answers.failures.merge(ofServers.failures) { first, _ in first }
        return answers
    }

    private func askLinks(_ questions: [Question]) async throws -> Answers {
        if questions.isEmpty { return Answers() }
        let (interfaces, family, limit, wantsTTL) = (try place.interfaces(), place.family, limit, wantsTTL)
        let found: [RecordLookup.Found]? = try await BlockingThread.value { isCancelled in
            let inquiry = LinkInquiry(on: interfaces, over: family, asQuery: true)
            guard !inquiry.links.isEmpty else { return nil }
            var lookup = RecordLookup(questions, wantsTTL: wantsTTL && !inquiry.hearing.isEmpty)
            inquiry.run(&lookup, within: limit, until: isCancelled)
            return lookup.found
        }
        guard let found else {
            let failure =
                interfaces == .all
                ? CommandError(.noBackend, "there is no link to ask: no interface that is up has an address")
                : CommandError(.notFound, "no interface that is up is meant by --interface")
            return Answers(failure, of: questions)
        }
        return Answers(found.map { Answer(record: $0.record, interface: $0.interface, ttl: $0.ttl) })
    }

    private static func ask(
        _ servers: (any MoreSupport)?, _ questions: [Question], of wish: DomainWish, _ notices: ProgramNotices,
        within limit: Duration
    ) async -> Answers {
        if questions.isEmpty { return Answers() }
        guard let servers else {
            return Answers(CommandError(.noBackend, "DNS servers cannot be asked"), of: questions)
        }
        // Gives up a silent server before the caller's time runs out.
        let outcome: Result<ServerAnswers, any Error> = await withTimeLimit(limit) {
            do {
                return .success(try await servers.records(questions, of: wish, notices))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .success(let told):
            var answers = Answers(told.records.map { Answer(record: $0, interface: nil, ttl: $0.ttl) })
            answers.failures = told.failures.mapValues { failure($0) }
            return answers
        case .failure(let error): return Answers(failure(error), of: questions)
        }
    }

    /// A DNS server that is silent does not mean that nothing finds on this machine.
    private static func failure(_ error: any Error) -> CommandError {
        guard let silence = error as? DiscoveryError, silence.code == .backendUnavailable else {
            return CommandError(of: error, asking: DomainWish())
        }
        return CommandError(.noBackend, silence.message)
    }
}
#endif
