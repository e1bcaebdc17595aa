import AppSupport
import DNSSD
import Discovery
import DiscoveryJSON
import DiscoveryNIO
import NIOCore

/// A published port for plain streams, and one for the framed mode that its TXT record names.
struct DropListener {
    /// Connections at a time, of both kinds; more are closed at once.
    static let limit = 16

    let app: App
    let name: ServiceName
    let type: String
    let port: Port?
    /// What the TXT record says besides.
    var about: [(key: String, value: String)] = []

    /// Serves until the task is cancelled, or until `isOnce` and one connection was served well.
    func run(
        once isOnce: Bool,
        plain: @escaping @Sendable (ByteStream) async throws -> Bool,
        framed: @escaping @Sendable (ByteStream) async throws -> Bool
    ) async throws {
        do {
            let server = try await ServerSocket.listen { ByteStream.wrap($0) }
            try await server.executeThenClose { framedConnections in
                let framedPort = try Port(server.channel.localAddress?.port ?? 0)
                try await app.network().withListener(
                    name, type: try ServiceType(type), port: port,
                    txt: try DropService.txt(framedPort: framedPort, about: about),
                    on: app.options.interfaces, onConflict: .fail, initializer: { ByteStream.wrap($0) }
                ) { listener, plainConnections in
                    try await withThrowingTaskGroup { group in
                        let gate = Gate(limit: Self.limit)
                        group.addTask { try await tellName(of: listener) }
                        group.addTask {
                            await app.observe(listener.publication)
                            return false
                        }
                        group.addTask { try await serve(plainConnections, gate, isOnce, plain) }
                        group.addTask { try await serve(framedConnections, gate, isOnce, framed) }
                        // One of them ended: everything was served, or something failed.
                        for try await isDone in group where isDone { break }
                        group.cancelAll()
                    }
                }
            }
        } catch let error as ServerSocket.Failure {
            throw AppError(.systemError, "cannot listen\(port.map { " on port \($0)" } ?? ""): \(failureText(error))")
        } catch let error as DiscoveryError where error.code == .nameTaken {
            throw AppError(
                .cannotCreate, error.message, advice: ["Another machine has this name: choose one with --name."])
        }
    }

    private func tellName(of listener: PublishedListener) async throws -> Bool {
        app.tellPublished(listener.publication, as: try await listener.established())
        // A name that is lost to another machine later is an error then.
        for await status in listener.publication.updates {
            if case .conflicted(let error) = status.state { throw error }
            if case .failed(let error) = status.state { throw error }
        }
        return false
    }

    private func serve(
        _ connections: NIOAsyncChannelInboundStream<ByteStream>, _ gate: Gate, _ isOnce: Bool,
        _ body: @escaping @Sendable (ByteStream) async throws -> Bool
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in connections {
                        guard gate.enter() else {
                            stream.channel.close(promise: nil)
                            continue
                        }
                        group.addTask {
                            defer { gate.leave() }
                            let isServed = await attempt(stream, body)
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

    /// One transfer that fails is no reason to stop.
    private func attempt(_ stream: ByteStream, _ body: (ByteStream) async throws -> Bool) async -> Bool {
        let peer = stream.channel.remoteAddress?.readable ?? "?"
        do {
            return try await body(stream)
        } catch {
            guard !Task.isCancelled else { return false }
            app.notices.notice("\(peer): \(error)")
            if app.json {
                app.output.json("failed") {
                    $0.member("peer", peer)
                    $0.member("reason", "\(error)")
                }
            }
            return false
        }
    }

    /// One connection was served, and that was wanted.
    private struct Served: Error {}
}
