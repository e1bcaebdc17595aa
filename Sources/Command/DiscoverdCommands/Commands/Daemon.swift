#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

struct BecomeDaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Runs the daemon; 'discoverd daemon --help' has its options.",
        discussion: "It is a program of its own, discoverd-daemon, so that the other commands start fast.")

    @Argument(parsing: .captureForPassthrough, help: "Options of the daemon.")
    var arguments: [String] = []

    func run() throws {
        let failure = LargeProgram.becomeDaemon(arguments)
        ProgramNotices().failure(failure)
        throw ExitCode(failure.status.rawValue)
    }
}

/// `discoverd reload`.
struct ReloadCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Makes the daemon read its configuration again.",
        discussion:
            "Services that did not change stay published. Where the configuration is wrong, the old one stays, and each error is named with file and line."
    )

    @OptionGroup var common: DaemonOptions
    @OptionGroup var output: OutputOptions

    func needs() -> CommandNeeds { .daemon }

    func execute(in session: Session) async throws -> ExitStatus {
        do {
            let answer = try await reload(session.requireDaemon())
            let keys = (try? JSONReader.read(answer))?["needsRestart"]?.strings ?? []
            if !keys.isEmpty {
                session.notices.notice(
                    "changed, but read at the start only: \(keys.joined(separator: ", ")); restart the daemon to use it"
                )
            }
        } catch let error as ControlError where error.errors.count > 1 {
            // Each in a line of its own, as `daemon --check` has them.
            for line in error.errors.dropLast() { try session.tell(CommandError(.badConfiguration, line)) }
            throw CommandError(.badConfiguration, error.errors[error.errors.count - 1])
        }
        return .done
    }

    private func reload(_ daemon: ControlClient) async throws(ControlError) -> [UInt8] {
        do {
            return try await daemon.send(ControlClient.Request("POST", "/v2/reload", body: []))
        } catch  where error.status == 404 {
            // A daemon of the version before, which runs until it is restarted.
            return try await daemon.send(ControlClient.Request("POST", "/v1/reload", body: []))
        }
    }
}
#endif
