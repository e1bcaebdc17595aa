#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem

struct DoctorCommand: NetworkCommand {
    @Option(
        name: .customLong("domain"),
        help: ArgumentHelp("A domain to check besides the configured ones. Repeatable.", valueName: "domain"),
        transform: Parsing.domain)
    var domains: [Domain] = []

    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks whether this machine can find and publish services, and says what to do.",
        discussion: """
            Each line has a verdict (ok, warn, fail, or skip for what does not count here), what was checked, and what is the case. The status is 0 when nothing failed, \
            69 when no backend answers, 1 when something else failed.

            Examples:
              discoverd doctor
              sudo discoverd doctor        can also name the owners of other users' sockets
              discoverd doctor --json
              discoverd doctor --domain home.example.org
            """
    )

    /// `doctor` reports the machine as it is: a private backend is never started.
    static let asksAvahi = true
    static var daemonUse: DaemonUse { .never }

    @OptionGroup var common: CommonOptions

    /// Configured domains need what asks DNS servers; where that is not installed, the rest is checked.
    var wish: DomainWish { DomainWish(domains: [.local] + domains, isOptional: domains.isEmpty && Self.isConfigured) }

    /// Whether the configuration may have domains: read as text, for what reads it otherwise is not linked here.
    private static var isConfigured: Bool {
        guard let bytes = try? SystemFile.read("/etc/discoverd/discoverd.yaml", atMost: 256 * 1024) else {
            return false
        }
        return String(decoding: bytes, as: UTF8.self).contains("domains:")
    }

    func execute(in session: Session) async throws -> ExitStatus {
        async let names = NameCheck.run()
        async let trials = LinkCheck.run()
        let backend = [BusCheck.run(), try await BackendCheck.run(in: session)]
        let others =
            await DaemonCheck.run(socket: common.socket) + ResponderCheck.run() + InterfaceCheck.run()
            + [IPv6Check.run(), WireCheck.run()]
            + LinkCheck.findings(of: await trials, avahiRuns: backend.allSatisfy { $0.verdict == .ok })
            + AvahiConfigurationCheck.run() + names
            + (await session.dns?.check(domains) ?? []).map(Finding.init)
        for finding in backend + others { try finding.show(in: session) }
        if backend.contains(where: { $0.verdict == .fail }) { return .noBackend }
        return others.contains { $0.verdict == .fail } ? .notFound : .done
    }
}
#endif
