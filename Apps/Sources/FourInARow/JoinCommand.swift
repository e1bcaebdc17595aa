import AppSupport
import ArgumentParser
import CommandText
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

    @Option(
        name: .customLong("name"), help: "Under which name to play; default: this machine's.",
        transform: { try ServiceName($0) })
    var own: ServiceName?

    @OptionGroup var game: GameOptions
    @OptionGroup var options: AppOptions

    func run(in app: App) async throws {
        let network = try app.network()
        let type = try ServiceType(Play.type)
        let terminal = Terminal.open(for: app, plain: game.plain)
        defer { terminal.close() }
        if let name {
            let instance = ServiceInstance(name: name, type: type)
            return try await play(try await connect(network, instance), instance, terminal)
        }
        var message = ""
        while !Task.isCancelled {
            let picker = ServicePicker(terminal: terminal, title: "Four in a Row: whose game?", message: message)
            let games = network.browse(type, on: app.options.interfaces, resolution: .none)
            guard case .service(let service) = try await picker.pick(from: games) else { return }
            terminal.tell("joining", "joining \(service.instance.name)") { $0.service(service.instance) }
            do {
                let host = try await connect(network, service.instance)
                return try await play(host, service.instance, terminal)
            } catch let error as DiscoveryError where !Task.isCancelled {
                // Back to the list, because another host may answer.
                message = error.message
                terminal.notice(error.message)
            }
        }
    }

    private struct Host {
        let link: ByteLink
        let takesNames: Bool
    }

    /// Resolves the service and tries its addresses in turn, for at most 30 s.
    private func connect(_ network: LocalNetwork, _ instance: ServiceInstance) async throws -> Host {
        let (link, report) = try await network.connect(
            to: .instance(instance), on: options.interfaces, limits: RaceLimits(overall: .seconds(30)),
            initializer: ByteLink.make)
        return Host(link: link, takesNames: report.service?.txt.text(for: Play.namesKey) == "1")
    }

    private func play(_ host: Host, _ instance: ServiceInstance, _ terminal: Terminal) async throws {
        try await Play.run(
            host.link, me: .guest, own: (own ?? .ofThisMachine()).text, opponent: instance.name.text,
            greets: host.takesNames, terminal)
    }
}
