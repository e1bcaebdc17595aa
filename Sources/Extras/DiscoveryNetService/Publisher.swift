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
    /// Maximum number of accepted connections that the delegate has not received yet; more are closed.
    static let maximumWaiting = 64

    private struct State {
        var service: OfferedService
        var publication: Publication?
        var waiting = 0
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
        do {
            let listener = try await listen(tell)
            let publication = listener?.publication ?? network.publish(service, onConflict: policy)
            if let listener { await tell(.listening(listener.port)) }
            // The record may have changed in the meantime.
            let txt = state.withLock { state in
                state.publication = publication
                return state.service.txt
            }
            await publication.update(txt: txt)
            await follow(publication, tell)
            await listener?.close()
            await publication.withdraw()
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

    private func listen(_ tell: @escaping @Sendable (Event) async -> Void) async throws -> PublishedListener? {
        guard let port = listensOn else { return nil }
        let service = service
        return try await network.listen(
            service.name, type: service.type, in: service.domain, port: port, txt: service.txt, onConflict: policy
        ) { [self] channel in
            let hasRoom = state.withLock { state in
                state.waiting += 1
                return state.waiting <= Self.maximumWaiting
            }
            let connection = StreamConnection()
            return connection.adopt(channel).flatMapThrowing { [self] in
                guard hasRoom else {
                    oneLess()
                    return channel.close(promise: nil)
                }
                // Not before it arrives, because the delegate may stop listening immediately.
                let arrival = ArrivalHandler(orNever: oneLess) { [self] _ in
                    // NIO must not wait for the run loop.
                    Task {
                        await tell(.accepted(connection))
                        oneLess()
                    }
                }
                try channel.pipeline.syncOperations.addHandler(arrival)
            }
        }
    }

    /// One fewer connection is waiting.
    @Sendable private func oneLess() { state.withLock { $0.waiting -= 1 } }
}
