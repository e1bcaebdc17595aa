import DNSSD
import Discovery
import DiscoverySystem
public import NIOCore

extension ConnectionPath {
    /// The path of a connection, TCP or UDP: now, and whenever the judgement changes; only the newest is kept. Ends with the channel, and at
    /// once if the system does not tell of changes. Interfaces that are slow to get an address are better only once they have one.
    ///
    /// May be called from any thread; several users each have a stream.
    public static func updates(of channel: any Channel) -> AsyncStream<ConnectionPath> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ConnectionPath.self, bufferingPolicy: .bufferingNewest(1))
        let end = channel.eventLoop.makePromise(of: Void.self)
        continuation.onTermination = { _ in end.succeed() }
        channel.closeFuture.whenComplete { _ in continuation.finish() }
        let told = Locked<(path: ConnectionPath?, isDue: Bool)>((nil, false))
        let judge: @Sendable () -> Void = {
            guard let path = ConnectionPath(of: channel) else { return }
            let isNews = told.withLock { told in
                defer { told = (path, false) }
                return told.path != path
            }
            if isNews { continuation.yield(path) }
        }
        SystemChanges.watch(InterfaceLimit.watchAll(), on: channel.eventLoop, until: end.futureResult) {
            let isFirst = told.withLock { told in
                defer { told.isDue = true }
                return !told.isDue
            }
            if isFirst { channel.eventLoop.scheduleTask(in: SystemChanges.gathering, judge) }
        }
        .whenComplete { result in
            judge()
            if case .failure = result { continuation.finish() }
        }
        return stream
    }

    /// The path of a connection now; nil if it has no address.
    public init?(of channel: any Channel) {
        guard let local = channel.localAddress.flatMap({ IPAddress($0) }) else { return nil }
        self.init(
            from: local, to: channel.remoteAddress.flatMap { IPAddress($0) }, .system(), SystemRoutes(),
            isReceiving: { SystemInterfaces.isReceiving($0, over: $1) })
    }
}
