internal import Discovery
internal import DiscoveryControl
internal import DiscoverySystem
internal import NIOCore
internal import NIOHTTP1

/// Refuses requests that do not name their host once and clearly (RFC 9112 §3.2), before the parts of a head that are not kept
/// are lost: a second `Host`, and the authority of a target in absolute form.
final class AuthorityHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Reported down the pipeline in place of the request; what follows on the connection is dropped.
    struct Refused: Error {
        let reason: String
    }

    private let isOver = Locked(false)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOver.withLock({ $0 }) { return }
        if case .head(let head) = unwrapInboundIn(data), let reason = Self.refusal(of: head) {
            isOver.withLock { $0 = true }
            return context.fireErrorCaught(Refused(reason: reason))
        }
        context.fireChannelRead(data)
    }

    static func refusal(of head: HTTPRequestHead) -> String? {
        let hosts = head.headers["Host"]
        guard hosts.count <= 1 else { return "there are \(hosts.count) Host fields" }
        guard let host = hosts.first else {
            return head.version == .http1_1 ? "there is no Host field" : nil
        }
        guard let authority = Authority(host) else { return "the Host field is no host and port" }
        guard let target = Authority.ofTarget(head.uri) else { return nil }
        return target == authority ? nil : "the target is for another host than the Host field says"
    }
}
