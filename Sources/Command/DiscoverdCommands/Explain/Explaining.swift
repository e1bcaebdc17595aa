#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import MulticastEngine

/// What `doctor NAME` asks, and how.
struct ExplainOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("With NAME: give up after this time; default: 5.", valueName: "seconds"),
        transform: Parsing.seconds)
    var timeout: Duration?

    @Flag(name: .customLong("no-connect"), help: "With NAME: do not connect to the service.")
    var noConnect = false

    @Option(
        name: .customLong("pcap"),
        help: ArgumentHelp("With NAME: write what is sent and received to a new file.", valueName: "file"))
    var pcap: String?

    func validate() throws {
        // A capture on standard output would be among the words.
        if let pcap, pcap.isEmpty || pcap == "-" { throw ValidationError("--pcap takes the name of a new file.") }
    }
}

/// `doctor NAME`, as its options say. A value.
struct Explaining {
    let options: ExplainOptions
    let policy: PolicyOptions
    let place: NetworkOptions

    /// An option that is given, which a check of the machine does not take; nil for none.
    var given: String? {
        let options = [
            ("--timeout", options.timeout != nil), ("--no-connect", options.noConnect), ("--pcap", options.pcap != nil),
            ("--allow", !policy.allow.isEmpty), ("--deny", !policy.deny.isEmpty), ("-4", place.ipv4),
            ("-6", place.ipv6),
            ("--interface", !place.interface.isEmpty),
        ]
        return options.first(where: \.1)?.0
    }

    /// Writing the capture waits for the disk.
    func needs(_ target: ExplainTarget) throws -> CommandNeeds {
        CommandNeeds(
            daemon: .never, interfaces: try place.interfaces(), types: target.sought, more: CommandNeeds.hashes,
            ending: .init(status: .interrupted, grace: .seconds(3)))
    }

    /// Asks the network step by step, and says what is wrong.
    func explain(_ target: ExplainTarget, in session: Session) async throws -> ExitStatus {
        let capture = try options.pcap.map { try PacketCaptureFile($0) }
        let search = EvidenceSearch(
            interfaces: try place.interfaces(), family: place.family, limit: options.timeout ?? .seconds(5),
            policy: options.noConnect ? nil : policy.policy(naming: .local, and: []), capture: capture)
        let progress = Progress(what: "for \(target.text)", limit: search.limit)
        var evidence = try await progress.during(in: session) { try await search.run(target) }
        if case .service(let instance) = evidence.subject {
            evidence.keyDoubt = KeyStates(session.more?.hmac).doubt(of: instance, announcing: evidence.txt)
        }
        let failure = capture?.finish()
        let explanation = Explanation(evidence)
        try ExplanationPrinter(explanation: explanation, session: session).show()
        if let failure { try session.tell(failure) }
        if evidence.isInterrupted { return .interrupted }
        return failure?.status ?? (explanation.diagnoses.isEmpty ? .done : .notFound)
    }
}

/// What `doctor NAME` is asked about.
enum ExplainTarget {
    case subject(InquirySubject)
    /// The name of a service, a type or a host: the network shows which.
    case word(String)

    /// - Parameters:
    ///   - text: a name, a full name, a type or a host.
    ///   - type: the type of a service whose name `text` is.
    /// - Throws: if it is something else, or not on the link.
    init(_ text: String, type: ServiceType?) throws {
        if let type {
            self = .subject(.service(ServiceInstance(name: try Parsing.soughtName(text), type: type)))
        } else if ServiceInstance.looksLikeFullName(text) {
            let instance = try ServiceInstance(fullName: text)
            guard instance.type.description != "_dns-sd._udp" else {
                throw Parsing.Failure(
                    "doctor takes a service, a type or a host; 'discoverd browse --types -t' lists the types")
            }
            guard instance.domain == .local else {
                throw Parsing.Failure(
                    "doctor asks the link, for names below local, and not for those of \(instance.domain)")
            }
            self = .subject(.service(instance))
        } else if text.hasPrefix("_") {
            if let name = try? QueryCommand.name(text), name.labels.count > 2, !name.isAskedOnLink {
                throw Parsing.Failure("doctor asks the link for types, and not other domains")
            }
            self = .subject(.type(try ServiceType(sought: text)))
        } else if let host = try? QueryCommand.name(text), text.contains("."), host.isAskedOnLink, !host.isReverse {
            self = .subject(.host(host))
        } else {
            _ = try Parsing.soughtName(text)
            if [".", "local", "local."].contains(text.lowercased()) {
                throw Parsing.Failure(
                    "doctor takes a service, a type or a host; 'discoverd browse --types -t' lists the types")
            }
            try Self.refuseForeign(text)
            self = .word(text)
        }
    }

    /// Refuses an address, and a name that only DNS servers know. A service's name may have dots too, but then needs its type.
    private static func refuseForeign(_ text: String) throws {
        if IPAddress(String(text.prefix { $0 != "%" })) != nil {
            throw Parsing.Failure(
                "\(text) is an address, and doctor takes a name: 'discoverd resolve \(text)' finds its host")
        }
        let labels = (text.hasSuffix(".") ? text.dropLast() : text[...]).utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        let isOfHost = { (byte: UInt8) in isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") }
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isOfHost) }),
            let last = labels.last, last.count > 1, last.allSatisfy(isLetter)
        else { return }
        throw Parsing.Failure(
            "doctor asks the link, for names below local; 'discoverd resolve --host \(text)' asks for others, and a service of this name needs its "
                + "TYPE")
    }

    /// What is asked for, safe for a terminal.
    var text: String {
        switch self {
        case .subject(let subject): subject.name?.text ?? ""
        case .word(let word): word.quotedForMessage
        }
    }

    /// The type that is looked for, if one is named.
    fileprivate var sought: [ServiceType] {
        switch self {
        case .subject(.service(let instance)): [instance.type]
        case .subject(.type(let type)): [type]
        case .subject(.host), .word: []
        }
    }

    /// Asks what a word can be.
    static func census(of word: String) throws -> NameCensus {
        let types = [ServiceType.Transport.tcp, .udp].compactMap { ServiceType(identifier: word, transport: $0) }
        return NameCensus(usual: try usualService(word), types: types, host: try? QueryCommand.name(word))
    }

    /// What a word is, as a census has shown: a service before a type, and that before a host. What is nowhere is a service of the usual
    /// type.
    static func subject(of word: String, in census: NameCensus) throws -> InquirySubject {
        let services = census.services(named: try Parsing.soughtName(word))
        if let first = services.first { return .service(first) }
        let types = census.types.filter { $0.name.lowercased() == "_" + word.lowercased() }.sorted {
            $0.description < $1.description
        }
        if let first = types.first { return .type(first) }
        if let host = census.host { return .host(host) }
        return try usual(word)
    }

    /// What a word is that no one has: a service of the usual type.
    static func usual(_ word: String) throws -> InquirySubject { .service(try usualService(word)) }

    /// Whether it is this machine's own name.
    static func isOwnHost(_ target: ExplainTarget) -> Bool {
        guard let label = Environment.hostLabel, let own = try? QueryCommand.name(label) else { return false }
        switch target {
        case .subject(let subject): return subject == .host(own)
        case .word(let word): return (try? QueryCommand.name(word)) == own
        }
    }

    private static func usualService(_ word: String) throws -> ServiceInstance {
        ServiceInstance(name: try Parsing.soughtName(word), type: try ServiceType(DefaultType.text))
    }
}
#endif
