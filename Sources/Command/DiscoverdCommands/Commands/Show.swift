#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem
internal import HostEngine

struct ShowCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Serves a page that shows the network, live, and prints its URL.",
        discussion: """
            The page is for one browser on this machine: its URL has a token that works once, for whoever opens it first. It shows all \
            services as they come and go, what the daemon publishes, how it is, and what 'discoverd doctor' finds. \
            It is served until Ctrl-C.

            Examples:
              discoverd show
              discoverd show 9332
            """
    )

    @Argument(help: "The port of 127.0.0.1; default: a free one.", transform: Parsing.port)
    var port: Port?

    @Option(name: .customLong("port"), help: .hidden, transform: Parsing.port)
    var namedPort: Port?

    @OptionGroup var common: CommonOptions
    @OptionGroup var output: OutputOptions

    /// The reader of the URL may close the pipe.
    func needs() -> CommandNeeds { CommandNeeds(more: CommandNeeds.page, ending: .init(isWhenUnread: false)) }

    func execute(in session: Session) async throws -> ExitStatus {
        guard let page = session.more else { throw CommandError(.systemError, "this program serves no page") }
        let source = PageSource(
            network: session.network, finder: session.daemon == nil ? common.finder.rawValue : "daemon",
            daemon: session.daemon)
        let (urls, url) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        async let served: Void = Self.serve(page, source, (port ?? namedPort)?.rawValue ?? 0, url)
        for await url in urls { try show(url, in: session) }
        try await served
        return .done
    }

    private static func serve(
        _ page: any MoreSupport, _ source: PageSource, _ port: UInt16, _ url: AsyncStream<String>.Continuation
    ) async throws {
        defer { url.finish() }
        try await page.serve(source, at: port) { address in
            url.yield(address)
            url.finish()
        }
    }

    private func show(_ url: String, in session: Session) throws {
        if session.json {
            try session.output.json { $0.line("page") { $0.member("url", url) } }
        } else {
            try session.output.line(url)
            session.notices.notice("open it in a browser on this machine; it works once. Ctrl-C ends the page")
        }
        do { try session.output.flush() } catch is Output.Unread {}
    }
}
#endif
