import AppSupport
import CommandFrame
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import DiscoveryTLS
import FileDropCore
import NIOCore

/// A published port, and a port for the framed mode that the TXT record names; or with --plain a port for plain streams alone.
struct DropListener {
    /// The maximum number of connections, of each kind; more are refused at once, and in the framed mode told so, this many at a time.
    static let limit = 16
    /// How many of them strangers may have, until a person says yes.
    static let strangers = 4

    let app: App
    let log: EventLog
    let name: ServiceName
    let type: String
    let port: Port?
    /// Whom the framed mode serves; nil: plain streams only, under exactly this name, for clients of such a service look for no other.
    let acquaintances: Acquaintances?
    /// Further strings for the TXT record.
    var about: [(key: String, value: String)] = []

    private var tls: PeerTLS? { acquaintances?.tls }

    typealias Serve = @Sendable (DropConnection) async throws -> Bool

    /// Serves until the task is cancelled or, with `isOnce`, until one connection was served successfully.
    func run(once isOnce: Bool, plain: @escaping Serve, framed: @escaping Serve) async throws {
        let seats = Seats(limit: Self.limit, strangers: Self.limit)
        do {
            guard let tls else {
                return try await publish(TXTRecord(), seats, isOnce, plain) { _ in }
            }
            let server = try await ServerSocket.listen(
                on: app.options.interfaces, initializer: DropConnection.answering(tls))
            try await server.executeThenClose { connections in
                let framedPort = try Port(server.channel.localAddress?.port ?? 0)
                let txt = try DropService.txt(
                    framedPort: framedPort, tls.identity.fingerprint, about: about)
                try await publish(txt, seats, isOnce, plain) { group in
                    // Plain streams, which are refused, take no place of these.
                    let strangers = acquaintances?.trustsFirst == true ? Self.limit : Self.strangers
                    let seats = Seats(limit: Self.limit, strangers: strangers)
                    group.addTask { try await serve(connections, seats, isOnce, framed) }
                }
            }
        } catch let error as ServerSocket.Failure {
            throw CommandError(
                .systemError, "cannot listen\(port.map { " on port \($0)" } ?? ""): \(failureText(error))")
        } catch let error as DiscoveryError where error.code == .nameTaken {
            throw CommandError(
                .cannotCreate, error.message,
                advice: ["Another machine has this name, which --plain does not change: choose one with --name."])
        }
    }

    private func publish(
        _ txt: TXTRecord, _ seats: Seats, _ isOnce: Bool, _ plain: @escaping Serve,
        _ others: (inout ThrowingTaskGroup<Bool, any Error>) -> Void
    ) async throws {
        try await app.network().withListener(
            name, type: try ServiceType(type), port: port, txt: txt, on: app.options.interfaces,
            onConflict: tls == nil ? .fail : .rename, initializer: DropConnection.plain
        ) { listener, connections in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await tellNames(of: listener.publication)
                    return false
                }
                group.addTask {
                    await app.observe(listener.publication)
                    return false
                }
                group.addTask { try await serve(connections, seats, isOnce, plain) }
                others(&group)
                // One of them ended: everything was served, or something failed.
                for try await isDone in group where isDone { break }
                group.cancelAll()
            }
        }
    }

    /// Prints the service's name, and again whenever a conflict changes it.
    private func tellNames(of publication: Publication) async throws {
        var told: ServiceName?
        for await status in publication.updates {
            switch status.state {
            case .established where told != status.name:
                if let told { app.notices.notice("another machine has the name \(told): it is \(status.name) now") }
                told = status.name
                app.tellPublished(publication, as: status.name)
            case .conflicted(let error) where told != nil && tls != nil:
                // Someone denies every name; the publication goes on trying.
                app.notices.notice("\(error.message); it is tried again")
            case .conflicted(let error), .failed(let error): throw error
            default: continue
            }
        }
    }

    private func serve(
        _ connections: IncomingConnections<DropConnection>, _ seats: Seats, _ isOnce: Bool, _ body: @escaping Serve
    ) async throws -> Bool {
        let told = Gate(limit: Self.limit)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await withThrowingDiscardingTaskGroup { group in
                    for await connection in connections {
                        group.addTask {
                            var connection = connection
                            // Who has failed to prove its key has no need of a place, only of a line.
                            if let isKnown = await isKnown(connection) {
                                connection.seat = seats.enter(connection, isKnown: isKnown)
                                if connection.seat == nil { return await refuse(connection, told) }
                            }
                            defer { connection.seat?.leave() }
                            let isServed = await attempt(connection, body)
                            if isOnce && isServed { throw Served() }
                        }
                    }
                }
                return false
            }
            do {
                return try await group.next() ?? false
            } catch is Served {
                return true
            }
        }
    }

    /// Waits for the end of a handshake, of which `PeerTLS` bounds the number: who is not known yet has no place. Nil for one that failed. Plain streams
    /// are not distinguished.
    private func isKnown(_ connection: DropConnection) async -> Bool? {
        guard let acquaintances, connection.isSecured else { return true }
        guard let peer = try? await connection.securedPeer() else { return nil }
        return await acquaintances.isNoted(peer)
    }

    /// Closes a connection for which there is no place; tells as many so as `told` lets in.
    private func refuse(_ connection: DropConnection, _ told: Gate) async {
        guard connection.isSecured, told.enter() else { return await connection.refuse() }
        defer { told.leave() }
        await Transfer.refuse(connection, .full)
    }

    /// Serves one connection; a failed transfer does not stop the listener.
    private func attempt(_ connection: DropConnection, _ body: Serve) async -> Bool {
        let peer = connection.address?.readable ?? "?"
        do {
            return try await body(connection)
        } catch {
            guard !Task.isCancelled else { return false }
            log.failed(peer, "\(error)")
            return false
        }
    }

    /// One connection was served, and no more were wanted.
    private struct Served: Error {}
}
