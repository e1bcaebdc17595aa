import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO

struct ResolveCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Resolves a server's name, 1 second at most, and greets it.")

    @Argument(help: "The name; default: tony.", transform: Parsing.soughtName)
    var name: ServiceName?

    @Option(
        name: .long,
        help: ArgumentHelp("How long resolving may take; default: 1.0.", valueName: "seconds"),
        transform: Parsing.seconds
    )
    var within: Duration = .seconds(1)

    @OptionGroup var limit: AnswerOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let instance = ServiceInstance(name: try name ?? ServiceName(Hello.name), type: try ServiceType(Hello.type))
        let network = try app.network()
        tell(app, "will-resolve", "will resolve \(instance.name) within \(within)", instance.name)
        let service: DiscoveredService
        do {
            service = try await network.resolve(instance, on: options.interfaces, within: within)
        } catch {
            tell(app, "did-not-resolve", "did not resolve \(instance.name): \(error.message)", instance.name, error)
            throw error
        }
        let places = service.endpoints.map(\.description).joined(separator: ", ")
        tell(app, "did-resolve", "did resolve \(instance.name): \(places)", instance.name)
        let (stream, _) = try await network.connect(to: .service(service)) { ByteStream.wrap($0) }
        try await HelloClient.greet(app, stream, within: limit.timeout)
    }

    private func tell(
        _ app: App, _ event: String, _ text: String, _ name: ServiceName, _ error: DiscoveryError? = nil
    ) {
        guard app.json else { return app.output.line(text) }
        app.output.json(event) {
            $0.member("name", name.text)
            guard let error else { return }
            $0.member("code", error.code.description)
            $0.member("reason", error.message)
        }
    }
}
