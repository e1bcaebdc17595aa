import DiscoveryNIO
import NIOCore
import NetworkServices

/// `Datagrams serve` answers each datagram; `Datagrams` finds it, asks, and tells how its own path changes.
@main
struct Datagrams {
    static func main() async throws {
        let (network, type) = (try LocalNetwork(), try ServiceType("_quote._udp"))
        guard CommandLine.arguments.count > 1 else { return try await ask(network, type) }
        let listener = try await network.listenForDatagrams(try ServiceName("quotes"), type: type) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answers()) }
        }
        print("published as", try await listener.established())
        for await status in listener.publication.updates { print(status.state) }
    }

    private static func ask(_ network: LocalNetwork, _ type: ServiceType) async throws {
        let (connection, _) = try await network.connectDatagrams(to: .any(type)) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "a quote"))
            for try await answer in inbound.prefix(1) { print(String(buffer: answer).escapedForTerminal) }
            for await path in ConnectionPath.updates(of: connection.channel) {
                let better = path.isBetterThere ? ", better is there" : ""
                print((path.isViable ? "by \(path.interface?.name ?? "")" : "not viable") + better)
            }
        }
    }
}

final class Answers: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}
