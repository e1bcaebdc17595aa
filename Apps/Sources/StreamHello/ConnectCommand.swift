import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD

struct ConnectCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Greets the server at a host and port.")

    @Argument(help: "The host: a name or an address.")
    var host: String

    @Argument(help: "The port; default: 9000.", transform: Parsing.port)
    var port: Port?

    @OptionGroup var limit: AnswerOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let stream = try await ByteStream.connect(host: host, port: Int(port?.rawValue ?? UInt16(Hello.port)))
        try await HelloClient.greet(app, stream, within: limit.timeout)
    }
}

/// How long to wait for an answer.
struct AnswerOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("How long to wait for an answer; default: 10.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var timeout: Duration = .seconds(10)
}
