import DiscoveryNIO
import Foundation
import NIOCore

/// The network side.
extension StreamConnection {
    /// Takes over a channel. Call it on the channel's event loop, before it reads.
    func adopt(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.setOption(.allowRemoteHalfClosure, value: true).flatMapThrowing { [self] in
            try channel.pipeline.syncOperations.addHandler(StreamConnectionHandler(connection: self))
            let isWanted = change { value in
                if value.isOver { return false }
                value.channel = channel
                value.phase = .open
                return true
            }
            if !isWanted { channel.close(promise: nil) }
        }
    }

    /// Whether the channel may read more; if not, it is notified when it may.
    func mayRead() -> Bool {
        locked { value in
            value.wantsRead = value.received.readableBytes >= Self.capacity
            return !value.wantsRead
        }
    }

    func received(_ buffer: inout ByteBuffer) {
        change { value in
            value.received.discardReadBytes()
            value.received.writeBuffer(&buffer)
        }
    }

    func ended() { change { $0.isAtEnd = true } }

    func failed(_ error: NSError) {
        change { value in
            if case .closed = value.phase { return }
            value.phase = .failed(error)
        }
    }

    func connect() {
        guard let target else { return }
        let task = Task { [self] in
            do {
                _ = try await target.network.connect(to: target.instance) { self.adopt($0) }
            } catch {
                failed(.stream(error))
            }
        }
        locked { $0.task = task }
    }
}
