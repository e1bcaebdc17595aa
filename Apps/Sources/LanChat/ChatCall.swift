import AppSupport
import AppTLS
import CommandFrame
import DNSSD
import Discovery
import DiscoveryNIO
import DiscoveryTLS
import NIOCore
import PeerIdentity

/// The connection to a room: by name or by host, with TLS or plain.
struct ChatCall: Sendable {
    let app: App
    /// Nil for a plain room.
    let tls: PeerTLS?

    /// A stream whose peer is yet to be proven.
    private typealias Stream = (bytes: ByteStream, peer: EventLoopFuture<PeerTLS.Peer>?)

    /// Connects. A person is asked about a key before the screen is taken.
    func connect(to name: ServiceName?, host: String?, port: Port?) async throws -> ByteStream {
        if let host {
            let port = Int(port?.rawValue ?? UInt16(LanChatCommand.port))
            let peer = try tls.map { _ in PeerName.host(try HostName(host)) }
            return try await judged(ByteStream.connect(host: host, port: port) { wrap($0, calling: peer) })
        }
        let type = try ServiceType(LanChatCommand.type)
        let (network, interfaces) = (try app.network(), app.options.interfaces)
        let target: ConnectTarget
        if let name {
            target = .instance(ServiceInstance(name: name, type: type))
        } else {
            target = try await RoomChoice(app: app, network: network, type: type, interfaces: interfaces).target()
        }
        // A key is known by a name, so the room is chosen before it is called.
        var room: ServiceInstance? = if case .instance(let instance) = target { instance } else { nil }
        if tls != nil, room == nil { room = try await first(of: type, in: network) }
        if let room { await warn(of: room, in: network) }
        let called = room.map { ConnectTarget.instance($0) } ?? target
        let peer = room.map { PeerName.service($0) }
        return try await judged(
            network.connect(to: called, on: interfaces) { wrap($0, calling: peer) }.output)
    }

    /// Why a connection ended early.
    func failure(_ error: any Error) -> CommandError {
        if let refusal = error as? PeerRefusal {
            var failure = CommandError(refusal)
            if case .noTLS = refusal {
                failure.advice = [
                    "A room that was opened with --plain is joined with --plain; everyone can read along."
                ]
            }
            return failure
        }
        let isSystem = error is IOError || error is ChannelError || tls == nil
        // TLS's own errors say no more than this.
        return CommandError(
            .ioError, "the connection broke: \(isSystem ? failureText(error) : "it ended without a word")")
    }

    private func wrap(_ channel: any Channel, calling name: PeerName?) -> EventLoopFuture<Stream> {
        guard let tls, let name else { return ByteStream.wrap(channel).map { ($0, nil) } }
        return tls.secure(channel, calling: name).flatMap {
            let peer = PeerTLS.peer(of: channel)
            return ByteStream.wrap(channel).map { ($0, peer) }
        }
    }

    private func judged(_ stream: Stream) async throws -> ByteStream {
        guard let peer = stream.peer else { return stream.bytes }
        do {
            _ = try await withTaskCancellationHandler {
                try await peer.get()
            } onCancel: {
                stream.bytes.channel.close(promise: nil)
            }
            return stream.bytes
        } catch {
            await stream.bytes.refuse()
            throw failure(error)
        }
    }

    /// The first room that appears.
    private func first(of type: ServiceType, in network: LocalNetwork) async throws -> ServiceInstance {
        do {
            return try await Deadline.run(RaceLimits().overall) { [app] in
                for try await event in network.browse(type, on: app.options.interfaces, resolution: .none) {
                    if case .found(let service) = event { return service.instance }
                    if case .backend(let state) = event { app.observe(state) }
                }
                throw CancellationError()
            }
        } catch is Deadline.Missed {
            throw CommandError(.notFound, "no room was found")
        }
    }

    /// Warns before a known room is called that announces another key.
    private func warn(of room: ServiceInstance, in network: LocalNetwork) async {
        guard let tls, let known = try? tls.known.read(), !known.keys(of: .service(room)).isEmpty,
            let found = try? await network.resolve(room, within: .seconds(2))
        else { return }
        app.warn(of: found, tls)
    }
}
