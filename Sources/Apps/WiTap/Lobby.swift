import AppSupport
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import Pairing
import TerminalUI

/// On the air, waiting to be invited and looking for somebody to invite; then in a game, off the air; then again.
struct Lobby: Sendable {
    static let identifier = "witap"

    let network: LocalNetwork
    let terminal: Terminal
    let name: ServiceName
    let type: ServiceType
    let interfaces: InterfaceFilter
    /// Whom to invite first; then it is the person's choice.
    let invited: ServiceName?

    private enum Turn: Sendable {
        /// Somebody connected.
        case invitation(ByteLink)
        /// Somebody is to be invited.
        case invite(ServiceInstance)
        case left
    }

    /// Plays until the person leaves.
    func run() async throws {
        var message = ""
        var next = invited.map { ServiceInstance(name: $0, type: type) }
        while !Task.isCancelled {
            let turn: Turn
            if let instance = next {
                turn = .invite(instance)
            } else {
                turn = try await onTheAir(message)
            }
            next = nil
            message = ""
            switch turn {
            case .left: return
            case .invitation(let link):
                guard try await play(link, with: link.remote, &message) else { return }
            case .invite(let instance):
                guard let link = try await invite(instance, &message) else { continue }
                guard try await play(link, with: instance.name.value, &message) else { return }
            }
        }
    }

    /// Publishes, listens and shows who else is there.
    private func onTheAir(_ message: String) async throws -> Turn {
        let listener: SingleListener<ByteLink>
        do {
            listener = try await network.listenForOne(name, type: type, on: interfaces, initializer: ByteLink.make)
        } catch let error as ServerSocket.Failure {
            throw AppError(.systemError, error.description)
        }
        let turn: Result<Turn, any Error>
        do {
            turn = .success(try await wait(listener, message))
        } catch {
            turn = .failure(error)
        }
        // Off the air before anything else happens. An invitation that came in the same moment is one.
        guard let link = await listener.close() else { return try turn.get() }
        if case .success(.invite) = turn { return .invitation(link) }
        await link.refuse()
        return try turn.get()
    }

    private func wait(_ listener: SingleListener<ByteLink>, _ message: String) async throws -> Turn {
        try await withThrowingTaskGroup(of: Turn?.self) { group in
            group.addTask { .invitation(try await listener.connection()) }
            group.addTask {
                let picker = ServicePicker(terminal: terminal, title: "WiTap: who plays?", message: message)
                let others = network.browse(type, on: interfaces, resolution: .none)
                switch try await picker.pick(from: others, own: listener.publication) {
                case .service(let service): return .invite(service.instance)
                case .left: return .left
                }
            }
            group.addTask {
                for await status in listener.publication.updates where status.state == .established {
                    tellPublished(status, listener.publication.service)
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            return .left
        }
    }

    private func tellPublished(_ status: PublicationStatus, _ service: Service) {
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

    /// - Returns: whether the person goes on.
    private func play(_ link: ByteLink, with opponent: String, _ message: inout String) async throws -> Bool {
        let ending = try await link.withBytes { bytes, sender in
            await PadGame(terminal: terminal, opponent: opponent) { await sender.send($0) }.run(bytes)
        }
        if ending == .opponentLeft { message = "\(opponent.escapedForTerminal) left." }
        return ending != .quit
    }
}
