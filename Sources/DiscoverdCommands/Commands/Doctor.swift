#if Commands
internal import ArgumentParser
internal import CommandFrame

struct DoctorCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks whether this machine can find and publish services, and says what to do.",
        discussion: """
            Each line has a verdict (ok, warn, fail), what was checked, and what is the case. The status is 0 when nothing failed, \
            69 when no backend answers, 1 when something else failed.

            Examples:
              discoverd doctor
              sudo discoverd doctor        can also name the owners of other users' sockets
              discoverd doctor --json
            """
    )

    /// `doctor` reports the machine as it is: a private backend is never started.
    static let asksAvahi = true
    static var daemonUse: DaemonUse { .never }

    @OptionGroup var common: CommonOptions

    func execute(in session: Session) async throws -> ExitStatus {
        let backend = [BusCheck.run(), try await BackendCheck.run(in: session)]
        let others =
            await DaemonCheck.run(socket: common.socket) + ResponderCheck.run() + InterfaceCheck.run()
            + [IPv6Check.run(), WireCheck.run()] + AvahiConfigurationCheck.run()
        for finding in backend + others { try finding.show(in: session) }
        if backend.contains(where: { $0.verdict == .fail }) { return .noBackend }
        return others.contains { $0.verdict == .fail } ? .notFound : .done
    }
}
#endif
