import AppSupport
import ArgumentParser
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import Pairing
import TerminalUI

struct JoinCommand: AppCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Joins a game: one of a list, or by its name.")

    @Argument(help: "The game's name; without it, a list of all games.", transform: { try ServiceName($0) })
    var name: ServiceName?

    @OptionGroup var game: GameOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let network = try app.network()
        let type = try ServiceType(Play.type)
        let terminal = Terminal.open(for: app, plain: game.plain)
        defer { terminal.close() }
        if let name {
            let instance = ServiceInstance(name: name, type: type)
            let link = try await Self.connect(network, instance, app.options.interfaces)
            return try await Play.run(link, me: .guest, opponent: name.value, terminal)
        }
        var message = ""
        while !Task.isCancelled {
            let picker = ServicePicker(terminal: terminal, title: "Four in a Row: whose game?", message: message)
            let games = network.browse(type, on: app.options.interfaces, resolution: .none)
            guard case .service(let service) = try await picker.pick(from: games) else { return }
            terminal.tell("joining", "joining \(service.instance.name)") { $0.service(service.instance) }
            do {
                let link = try await Self.connect(network, service.instance, app.options.interfaces)
                return try await Play.run(link, me: .guest, opponent: service.instance.name.value, terminal)
            } catch let error as DiscoveryError where !Task.isCancelled {
                // Back to the list: another may answer.
                message = error.message
                terminal.notice(error.message)
            }
        }
    }

    /// Resolves and tries the addresses in turn, 30 s at most.
    private static func connect(
        _ network: LocalNetwork, _ instance: ServiceInstance, _ interfaces: InterfaceFilter
    ) async throws -> ByteLink {
        try await network.connect(
            to: .instance(instance), on: interfaces, limits: RaceLimits(overall: .seconds(30)),
            initializer: ByteLink.make
        ).output
    }
}
