import DNSSD
import Discovery
import Foundation
import NIOCore

/// Moves bytes from a channel to the streams' connection, and reads no more than there is room for.
final class StreamConnectionHandler: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let connection: StreamConnection

    init(connection: StreamConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        connection.received(&buffer)
    }

    func read(context: ChannelHandlerContext) {
        if connection.mayRead() { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { connection.ended() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.ended()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.failed(.stream(error))
        context.close(promise: nil)
    }
}

extension NSError {
    /// An error in the form of streams: the system's number, and the library's message.
    static func stream(_ error: any Error) -> NSError {
        let number: Int32
        var text = String(describing: error).escapedForTerminal
        switch error {
        case let error as IOError: number = error.errnoCode
        case let error as DiscoveryError:
            text = error.message
            switch error.code {
            case .timedOut, .notFound: number = ETIMEDOUT
            case .notPermitted: number = EACCES
            case .closed: number = ECANCELED
            case .backendUnavailable: number = ENETDOWN
            default: number = EHOSTUNREACH
            }
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed: number = EPIPE
        default: number = EIO
        }
        return NSError(domain: NSPOSIXErrorDomain, code: Int(number), userInfo: [NSLocalizedDescriptionKey: text])
    }
}
