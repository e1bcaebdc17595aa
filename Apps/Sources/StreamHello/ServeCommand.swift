import AppSupport
import ArgumentParser
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import NIOCore

struct ServeCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Listens, shows what comes and answers \"Hello Client!\" until Ctrl-C."
    )

    @Option(
        name: .long, help: "The port; default: 9000, and with --publish a free one.", transform: Parsing.port)
    var port: Port?

    @Flag(name: .long, help: "Publish the port that was got, as NAME._tonyipp._tcp.")
    var publish = false

    @Option(name: .long, help: "The name to publish.", transform: { try ServiceName($0) })
    var name: ServiceName?

    @OptionGroup var options: AppOptions

    func validate() throws {
        if name != nil && !publish { throw ValidationError("--name is for --publish.") }
    }

    func run(in app: App) async throws {
        let server = HelloServer(app: app)
        guard publish else {
            let port = try port ?? Port(Hello.port)
            let socket = try await listening(port) {
                try await ServerSocket.listen(port: port, on: options.interfaces) { ByteStream.wrap($0) }
            }
            tell(app, "listening", port)
            return try await socket.executeThenClose { connections in await server.serve(connections) }
        }
        let type = try ServiceType(Hello.type)
        let name = try name ?? ServiceName(Hello.name)
        try await listening(port) {
            try await app.network().withListener(
                name, type: type, port: port, on: options.interfaces, initializer: { ByteStream.wrap($0) }
            ) { listener, connections in
                tell(app, "listening", listener.port)
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        app.tellPublished(listener.publication, as: try await listener.established())
                    }
                    group.addTask { await app.observe(listener.publication) }
                    group.addTask { await server.serve(connections) }
                    try await group.waitForAll()
                }
            }
        }
    }

    private func tell(_ app: App, _ event: String, _ port: Port) {
        if app.json {
            app.output.json(event) { $0.member("port", Int(port.rawValue)) }
        } else {
            app.output.line("\(event) on port \(port)")
        }
    }

    private func listening<Result>(_ port: Port?, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as ServerSocket.Failure {
            let port = port.map { " on port \($0)" } ?? ""
            throw CommandError(.systemError, "cannot listen\(port): \(failureText(error))")
        }
    }
}
