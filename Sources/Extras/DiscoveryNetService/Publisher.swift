import DNSSD
import Discovery
import DiscoveryNIO
import DiscoverySystem
import NIOCore

/// A service being published: its publication and, if it listens, its socket. Used from the run loop and a task.
final class Publisher: Sendable {
    /// What to report about it.
    enum Event: Sendable {
        case listening(DNSSD.Port)
        case status(PublicationStatus)
        case failed(DiscoveryError)
        case accepted(StreamConnection)
    }

    /// How long a backend may be absent before publishing fails.
    static let patience = Duration.seconds(5)

    private struct State {
        var service: OfferedService
        var publication: Publication?
    }

    private let network: LocalNetwork
    private let policy: ConflictPolicy
    /// The port to listen on: nil for none, `.some(nil)` for a free one.
    private let listensOn: DNSSD.Port??
    private let state: Locked<State>

    init(_ service: OfferedService, _ policy: ConflictPolicy, listensOn: DNSSD.Port??, _ network: LocalNetwork) {
        (self.network, self.policy, self.listensOn) = (network, policy, listensOn)
        state = Locked(State(service: service))
    }

    /// Publishes until it fails or the task is cancelled. On return the service is withdrawn, and its goodbyes are sent.
    func run(_ tell: @escaping @Sendable (Event) async -> Void) async {
        guard !Task.isCancelled else { return }
        guard let port = listensOn else { return await publish(service, tell) }
        do {
            try await listen(on: port, tell)
        } catch let error as DiscoveryError {
            await tell(.failed(error))
        } catch {
            await tell(.failed(DiscoveryError(.limitExceeded, "cannot listen: \(error)".escapedForTerminal)))
        }
    }

    /// Replaces the TXT record, now and for later publications.
    func update(txt: TXTRecord) {
        let publication = state.withLock { state in
            state.service.txt = txt
            return state.publication
        }
        // Not awaited; if two updates overtake each other, the newer record wins.
        if let publication { Task { [state] in await publication.update(txt: state.withLock { $0.service.txt }) } }
    }

    private var service: OfferedService { state.withLock { $0.service } }

    private func follow(_ publication: Publication, _ tell: @escaping @Sendable (Event) async -> Void) async {
        let time = network.directory.time
        let alarm = Task {
            try await time.sleep(until: time.now + Self.patience)
            guard case .waiting(let reason) = publication.status.state else { return }
            await tell(.failed(DiscoveryError(.backendUnavailable, reason)))
        }
        defer { alarm.cancel() }
        for await status in publication.updates {
            if status.state == .established { alarm.cancel() }
            await tell(.status(status))
        }
    }

    private func publish(_ service: OfferedService, _ tell: @escaping @Sendable (Event) async -> Void) async {
        let publication = network.publish(service, onConflict: policy)
        // The record may have changed in the meantime.
        let txt = state.withLock { state in
            state.publication = publication
            return state.service.txt
        }
        await publication.update(txt: txt)
        await follow(publication, tell)
        await publication.withdraw()
    }

    /// Listens while the service is published, at the actual port.
    private func listen(on port: DNSSD.Port?, _ tell: @escaping @Sendable (Event) async -> Void) async throws {
        var service = service
        try service.type.checkHasConnections(insteadOf: "listenForDatagrams")
        let server = try await ServerSocket.listen(port: port) { channel in
            let connection = StreamConnection()
            return connection.adopt(channel).map { connection }
        }
        service.port = try DNSSD.Port(server.channel.localAddress?.port ?? 0)
        let listening = service
        try await server.executeThenClose { connections in
            await tell(.listening(listening.port))
            await withTaskGroup(of: Void.self) { group in
                // One by one: while the delegate takes one, others wait in the listener, and then in the system.
                group.addTask { for await connection in connections { await tell(.accepted(connection)) } }
                await publish(listening, tell)
                group.cancelAll()
            }
        }
    }
}
