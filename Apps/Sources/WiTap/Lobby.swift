import AppSupport
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import Pairing
import Synchronization
import TerminalUI

/// Alternates between being on the air, inviting or waiting to be invited, and playing, off the air.
final class Lobby: Sendable {
    static let identifier = "witap"

    let network: LocalNetwork
    let terminal: Terminal
    let name: ServiceName
    let type: ServiceType
    let interfaces: InterfaceFilter
    /// The player to invite first; after that the person chooses.
    let invited: ServiceName?
    private let neighbours = Mutex(Neighbours())

    init(
        network: LocalNetwork, terminal: Terminal, name: ServiceName, type: ServiceType, interfaces: InterfaceFilter,
        invited: ServiceName?
    ) {
        self.network = network
        self.terminal = terminal
        self.name = name
        self.type = type
        self.interfaces = interfaces
        self.invited = invited
    }

    private enum Turn: Sendable {
        /// Another player connected.
        case invitation(ByteLink)
        /// Invite another player.
        case invite(ServiceInstance)
        case left
    }

    /// Plays until the person leaves.
    func run() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                await self.meet(self.network.browse(self.type, on: self.interfaces, resolution: .watch))
            }
            // Includes players that cannot be resolved yet: for a second, while its name is probed, a player cannot be.
            group.addTask {
                await self.meet(self.network.browse(self.type, on: self.interfaces, resolution: .none))
            }
            try await self.play()
            group.cancelAll()
        }
    }

    /// Keeps track of who is there; without it, players are shown by address. The publication reports why there is no backend.
    private func meet(_ events: ServiceEvents) async {
        do {
            for try await event in events { neighbours.withLock { $0.update(event) } }
        } catch {}
    }

    private func play() async throws {
        var message = ""
        var next = invited.map { ServiceInstance(name: $0, type: type) }
        var own = name
        while !Task.isCancelled {
            let turn: Turn
            if let instance = next {
                turn = .invite(instance)
            } else {
                (turn, own) = try await onTheAir(message)
            }
            next = nil
            message = ""
            switch turn {
            case .left: return
            case .invitation(let link):
                let opponent = await name(of: link, unless: own) ?? link.remote
                guard try await play(link, own, with: opponent, &message) else { return }
            case .invite(let instance):
                guard let link = try await invite(instance, &message) else { continue }
                guard try await play(link, own, with: instance.name.text, &message) else { return }
            }
        }
    }

    /// The name of an inviter. One who invites at once may not be resolved yet: after a second, the only player it can be.
    private func name(of link: ByteLink, unless own: ServiceName) async -> String? {
        guard let address = link.address else { return nil }
        let end = ContinuousClock.now + .seconds(1)
        while true {
            if let name = neighbours.withLock({ $0.name(at: address) }) { return name }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(50))) != nil else {
                return neighbours.withLock { $0.onlyOne(perhapsAt: address, unless: own) }
            }
        }
    }

    /// Publishes, listens, and shows who else is there.
    /// - Returns: the next turn, and the name that was ours.
    private func onTheAir(_ message: String) async throws -> (Turn, ServiceName) {
        let listener: SingleListener<ByteLink>
        do {
            listener = try await network.listenForOne(name, type: type, on: interfaces, initializer: ByteLink.make)
        } catch let error as ServerSocket.Failure {
            throw CommandError(.systemError, error.description)
        }
        let turn: Result<Turn, any Error>
        do {
            turn = .success(try await wait(listener, message))
        } catch {
            turn = .failure(error)
        }
        let own = listener.publication.status.name
        // Leave the air before anything else happens. An invitation that arrived at the same moment counts.
        guard let link = await listener.close() else { return (try turn.get(), own) }
        if case .success(.invite) = turn { return (.invitation(link), own) }
        await link.refuse()
        return (try turn.get(), own)
    }

    private func wait(_ listener: SingleListener<ByteLink>, _ message: String) async throws -> Turn {
        try await withThrowingTaskGroup(of: Turn?.self) { group in
            group.addTask { .invitation(try await listener.connection()) }
            group.addTask {
                let picker = ServicePicker(
                    terminal: self.terminal, title: "WiTap: who plays?", action: "invite", message: message)
                let others = self.network.browse(self.type, on: self.interfaces, resolution: .none)
                switch try await picker.pick(from: others, own: listener.publication) {
                case .service(let service): return .invite(service.instance)
                case .left: return .left
                }
            }
            group.addTask {
                for await status in listener.publication.updates where status.state == .established {
                    self.tellPublished(status, listener.publication.service)
                }
                return nil
            }
            group.addTask {
                await self.terminal.observe(listener.publication)
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            return .left
        }
    }

    private func tellPublished(_ status: PublicationStatus, _ service: OfferedService) {
        terminal.tell("published", "on the air as \(status.name), port \(service.port)") {
            $0.publishedMembers(service, name: status.name)
        }
    }

    private func invite(_ instance: ServiceInstance, _ message: inout String) async throws -> ByteLink? {
        terminal.tell("inviting", "inviting \(instance.name)") { $0.service(instance) }
        do {
            return try await network.connect(to: .instance(instance), on: interfaces, initializer: ByteLink.make).output
        } catch {
            if Task.isCancelled { throw error }
            message = (error as? DiscoveryError)?.message ?? "\(instance.name) closed the connection"
            terminal.notice(message)
            return nil
        }
    }

    /// - Returns: whether the person continues.
    private func play(
        _ link: ByteLink, _ own: ServiceName, with opponent: String, _ message: inout String
    ) async throws -> Bool {
        let ending = try await link.withBytes { bytes, sender in
            let game = PadGame(terminal: terminal, own: own.text, opponent: opponent) { await sender.send($0) }
            return await game.run(bytes)
        }
        if ending == .opponentLeft { message = "\(opponent.escapedForTerminal) left." }
        return ending != .quit
    }
}
