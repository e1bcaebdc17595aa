#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import MulticastEngine

struct ExplainCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Asks the network for a service, a type or a host, step by step, and says what is wrong.",
        discussion: """
            Prints what was asked on which interface, each answer with its TTL and sender, what avahi-daemon has, and each connection \
            that was tried, without sending anything on it; then what is wrong, each with a code. The status is 0 when nothing \
            is, else 1; 130 when a signal ends it.

            Examples:
              discoverd explain tony                       a service of any type; or a type, or a host of this name
              discoverd explain tony _http._tcp
              discoverd explain _http._tcp
              discoverd explain printer.local
              discoverd explain tony --pcap packets.pcap   what was sent and received, for tshark or tcpdump -r
              discoverd explain tony --json
            """
    )

    @Argument(help: "A service's name or full name, a type, or a host's name.")
    var name: String

    @Argument(help: "The service's type.", transform: Parsing.soughtType)
    var type: ServiceType?

    @OptionGroup var time: LookupTime

    @Flag(name: .customLong("no-connect"), help: "Do not connect to the service.")
    var noConnect = false

    @Option(
        name: .customLong("pcap"),
        help: ArgumentHelp("Write what is sent and received to a new file.", valueName: "file"))
    var pcap: String?

    @OptionGroup var policy: PolicyOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: LookupOptions

    private var sought: [ServiceType] {
        guard case .subject(let subject)? = try? ExplainTarget(name, type: type) else { return [] }
        return switch subject {
        case .service(let instance): [instance.type]
        case .type(let type): [type]
        case .host: []
        }
    }

    /// Writing the capture waits for the disk.
    func needs() throws -> CommandNeeds {
        CommandNeeds(
            daemon: .never, interfaces: try place.interfaces(), types: sought, more: CommandNeeds.hashes,
            ending: .init(status: .interrupted, grace: .seconds(3)))
    }

    func validate() throws {
        // A capture on standard output would be among the words.
        if let pcap, pcap.isEmpty || pcap == "-" { throw ValidationError("--pcap takes the name of a new file.") }
        do {
            _ = try ExplainTarget(name, type: type)
        } catch let error as DiscoveryError {
            throw ValidationError(error.message)
        } catch let error as Parsing.Failure {
            throw ValidationError("\(error)")
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        let capture = try pcap.map { try PacketCaptureFile($0) }
        let search = EvidenceSearch(
            interfaces: try place.interfaces(), family: place.family, limit: time.limit,
            policy: noConnect ? nil : policy.policy(naming: .local, and: []), capture: capture)
        var evidence = try await search.run(try ExplainTarget(name, type: type))
        if case .service(let instance) = evidence.subject {
            evidence.keyDoubt = KeyStates(session.more?.hmac).doubt(of: instance, announcing: evidence.txt)
        }
        let failure = capture?.finish()
        let explanation = Explanation(evidence)
        try ExplanationPrinter(explanation: explanation, session: session).show()
        if let failure { session.notices.failure(failure) }
        if evidence.isInterrupted { return .interrupted }
        return failure?.status ?? (explanation.diagnoses.isEmpty ? .done : .notFound)
    }
}
#endif
