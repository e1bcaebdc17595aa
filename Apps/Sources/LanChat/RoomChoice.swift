import AppSupport
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import TerminalUI

/// Chooses a room to join when none was named.
struct RoomChoice: Sendable {
    /// How long to wait for the list of rooms to be complete.
    private static let patience: Duration = .seconds(5)

    let app: App
    let network: LocalNetwork
    let type: ServiceType
    let interfaces: InterfaceFilter

    /// The only room there is, or the one that a person chooses; if there is none, the first to appear.
    func target() async throws -> ConnectTarget {
        let rooms = try await rooms()
        guard let only = rooms.first else { return .any(type) }
        if rooms.count == 1 { return join(only) }
        let chosen = try await app.choose(
            from: network.browse(type, on: interfaces, resolution: .none), title: "lanchat: which room?",
            action: "join", none: "No room is there.")
        if let chosen { return join(chosen.instance) }
        let names = rooms.map(\.name.description).joined(separator: ", ")
        throw CommandError(
            .usage, "there are \(rooms.count) rooms, and none was named: \(names)", advice: ["lanchat join NAME"])
    }

    private func join(_ room: ServiceInstance) -> ConnectTarget {
        if app.json {
            app.output.json("joining") { $0.service(room) }
        } else {
            app.output.line("joining \(room.name)")
        }
        return .instance(room)
    }

    /// The current rooms, sorted by name.
    private func rooms() async throws -> [ServiceInstance] {
        var list = ServiceList()
        do {
            let events = network.browse(type, on: interfaces, resolution: .none)
            list = try await Deadline.run(Self.patience) {
                var list = ServiceList()
                for try await event in events {
                    list.update([event])
                    if case .backend(let state) = event { app.observe(state) }
                    if event == .settled { break }
                }
                return list
            }
        } catch is Deadline.Missed {
            // After this long without a backend the program ends; a network that does not settle has no list.
            return []
        }
        return list.services.map(\.instance)
    }
}
