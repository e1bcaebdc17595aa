#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON

struct StatusCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how the daemon is: what finds and publishes, what it keeps warm, what it publishes.",
        discussion: "The status is 0 when all is well, 1 when the daemon is degraded, 69 when there is none."
    )

    @Flag(name: .long, help: "Go on: a screen that follows, or without a terminal the lines that come (+) and go (-).")
    var watch = false

    @OptionGroup var common: DaemonOptions

    func needs() -> CommandNeeds { .daemon }

    func execute(in session: Session) async throws -> ExitStatus {
        if watch { return try await follow(in: session) }
        let status = try await session.ask("/v1/status")
        if session.json {
            try Self.printJSON(status, session)
        } else {
            for line in StatusLines(status, for: session.terminal).all { try session.output.line(line) }
        }
        return StatusLines.isDegraded(status) ? .notFound : .done
    }

    private func follow(in session: Session) async throws -> ExitStatus {
        let (terminal, pipe) = (session.terminal.onScreen, session.terminal.asPipe)
        var changes = LineChanges()
        let watching = Watching(session: session, title: "discoverd status") {
            try await session.ask("/v1/status")
        } lines: { status in
            StatusLines(status, for: terminal).all
        } tell: { status in
            let news = changes.changes(to: StatusLines(status, for: pipe, hasTimes: false).all)
            guard session.json else { return try session.output.changes(news) }
            if !news.isEmpty { try Self.printJSON(status, session) }
        }
        return try await watching.run()
    }

    private static func printJSON(_ status: JSONValue, _ session: Session) throws {
        try session.output.json { json in
            json.write(status)
            json.endLine()
        }
    }
}
#endif
