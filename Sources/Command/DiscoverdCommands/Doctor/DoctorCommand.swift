#if Commands
internal import CommandText
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem

struct DoctorCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says why nothing is found or published here; or, with a name, why that is not found.",
        discussion: """
            Without NAME it checks this machine, its links and its domains. Each line has a verdict (ok, warn, fail, or skip for what does not \
            count here), what was checked, and what was found. The status is 0 when nothing failed, 69 when nothing finds or publishes, 1 when \
            something else failed.

            With NAME it asks the network for a service, a type or a host, step by step. It first says what is wrong, each fault with a code. Then it \
            prints what was asked on which interface, each answer, what avahi-daemon has, and each connection that was tried. It sends nothing over \
            these. The status is 0 when nothing is wrong, else 1; 130 when a signal ends it.

            Examples:
              discoverd doctor
              sudo discoverd doctor                     names other users' programs, too
              discoverd doctor --domain home.example.org
              discoverd doctor tony                     a service, a type or a host of this name
              discoverd doctor tony _http._tcp
              discoverd doctor _ipp._tcp                printers
              discoverd doctor printer.local --json
              discoverd doctor tony --pcap file.pcap    what was sent and received, for tshark
            """
    )

    @Argument(
        help: "A service, a type or a host; without one this machine is checked.",
        completion: DaemonCandidates.names)
    var name: String?

    @Argument(help: "The service's type.", completion: DaemonCandidates.types, transform: Parsing.soughtType)
    var type: ServiceType?

    @Option(
        name: .customLong("domain"),
        help: ArgumentHelp(
            "Without NAME: a domain to check besides the configured ones. Repeatable.", valueName: "domain"),
        transform: Parsing.domain)
    var domains: [Domain] = []

    @OptionGroup var ofName: ExplainOptions
    @OptionGroup var policy: PolicyOptions
    @OptionGroup var place: NetworkOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    private var explaining: Explaining { Explaining(options: ofName, policy: policy, place: place) }

    /// Reports the machine as it is. Configured domains need what asks DNS servers; where that is not
    /// installed, the rest is checked.
    func needs() throws -> CommandNeeds {
        if let target = try target() { return try explaining.needs(target) }
        return CommandNeeds(
            daemon: .never,
            domains: DomainWish(domains: [.local] + domains, isOptional: domains.isEmpty && Self.isConfigured),
            asksAvahi: true)
    }

    private func target() throws -> ExplainTarget? { try name.map { try ExplainTarget($0, type: type) } }

    func validate() throws {
        try Parsing.validate { _ = try target() }
        if name == nil, let option = explaining.given {
            throw ValidationError("\(option) is for a NAME: 'discoverd doctor NAME'.")
        }
        if name != nil, !domains.isEmpty { throw ValidationError("--domain is for a check without a NAME.") }
    }

    /// Whether the configuration may have domains: read as text, for what reads it otherwise is not linked here.
    private static var isConfigured: Bool {
        ["yaml", "yml"].contains { ending in
            let bytes = try? SystemFile.read("/etc/discoverd/discoverd.\(ending)", atMost: 256 * 1024)
            return String(decoding: bytes ?? [], as: UTF8.self).contains("domains:")
        }
    }

    func execute(in session: Session) async throws -> ExitStatus {
        if let target = try target() { return try await explaining.explain(target, in: session) }
        let progress = Progress(what: "this machine's links and daemons", limit: .seconds(5))
        let found = try await progress.during(in: session) { try await findings(in: session) }
        for finding in found { try finding.show(in: session) }
        let failed = found.filter { $0.verdict == .fail }
        if failed.contains(where: { ["dbus", "avahi", "finder"].contains($0.check) }) { return .noBackend }
        return failed.isEmpty ? .done : .notFound
    }

    private func findings(in session: Session) async throws -> [DoctorFinding] {
        async let names = NameCheck.run()
        async let trials = LinkCheck.run()
        async let servers = NameServersCheck.run()
        let interfaces = InterfaceCheck.run()
        let daemon = await RunningDaemonCheck.run(socket: common.socket)
        let isWanted = common.avahi == .always
        let isNeeded = isWanted || SystemResponder.all.contains(where: \.isAvahi)
        let avahi = try await BackendCheck.run(in: session, isWanted: isWanted)
        let backend = [BusCheck.run(isNeeded: isNeeded), avahi.finding]
        let machine =
            ResponderCheck.run() + interfaces + [IPv6Check.run(), WireCheck.run()]
            + LinkCheck.findings(of: await trials, avahiRuns: avahi.avahiAnswers)
            + AvahiConfigurationCheck.run() + HostsLookupCheck.run() + (await servers) + (await names)
        let domains = await session.more?.check(domains) ?? []
        let weighed = Self.weigh(backend, machine, beside: daemon)
        return weighed.backend + daemon.findings + weighed.machine + domains
    }

    /// What counts of this machine: where a daemon finds and publishes for it, what it lacks itself does not, and where it has no network of its own,
    /// as in a container, nothing of that does.
    static func weigh(
        _ backend: [DoctorFinding], _ machine: [DoctorFinding], beside daemon: RunningDaemonCheck.Result
    ) -> (backend: [DoctorFinding], machine: [DoctorFinding]) {
        guard daemon.finds else { return (backend, machine) }
        let hasNetwork = !machine.contains { $0.check == "interface" && $0.verdict == .fail }
        guard hasNetwork else { return (backend.map(\.skipped), machine.map(\.skipped)) }
        return (daemon.publishes ? backend.map { $0.verdict == .fail ? $0.skipped : $0 } : backend, machine)
    }
}

/// The result of one check of `doctor`.
package struct DoctorFinding: Sendable {
    package enum Verdict: String, Sendable {
        case ok, warn, fail
        /// It does not count here, or is not known.
        case skip

        var colour: Colour? {
            switch self {
            case .skip: nil
            case .ok: .green
            case .warn: .yellow
            case .fail: .red
            }
        }
    }

    /// The check's name, for scripts.
    let check: String
    let verdict: Verdict
    /// What the check found.
    let text: String
    /// What to do about it, if anything.
    let advice: String?

    /// - Parameters:
    ///   - text: safe for a terminal.
    package init(_ check: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
        (self.check, self.verdict, self.text, self.advice) = (check, verdict, text, advice)
    }

    /// The same, where it does not count.
    var skipped: DoctorFinding { DoctorFinding(check, .skip, text) }

    /// What a person reads in the place of names that scripts know.
    private static let words = ["finder": "finds", "publisher": "publishes", "wire": "port"]

    /// Prints the finding; on a terminal, the advice is on its own line.
    func show(in session: Session) throws {
        if session.json { return try session.output.json(.check) { write(to: &$0) } }
        let check = session.terminal.isInteractive ? Self.words[check] ?? check : check
        var record = Record(.init(verdict.rawValue, 4, verdict.colour), .init(check, 10), .init(text, 0))
        if let advice, !session.terminal.isInteractive { record.fields.append(.init(advice, 0)) }
        try session.show(record)
        guard let advice, session.terminal.isInteractive else { return }
        try session.show(Record(.init("", 4), .init("", 10), .init(advice, 0)))
    }

    private func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("v", 1)
            json.member("check", check)
            json.member("verdict", verdict.rawValue)
            json.member("text", text)
            if let advice { json.member("advice", advice) }
        }
        json.endLine()
    }
}
#endif
