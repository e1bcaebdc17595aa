import Foundation
import NIOCore

/// Receives and sends bytes, on threads that may block.
extension StreamConnection {
    /// Waits for bytes. Returns 0 at the end, nil after an error or once closed.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        let (count, channel) = waiting { value -> (Int?, (any Channel)?)? in
            if value.received.readableBytes == 0 && !value.isAtEnd && value.isAlive { return nil }
            let count = min(buffer.count, value.received.readableBytes)
            if count == 0 { return (value.isAtEnd || buffer.isEmpty ? 0 : nil, nil) }
            _ = value.received.readWithUnsafeReadableBytes { bytes in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: .init(rebasing: bytes[..<count]))
                return count
            }
            let mayRead = value.wantsRead && value.received.readableBytes < Self.capacity
            if mayRead { value.wantsRead = false }
            return (count, mayRead ? value.channel : nil)
        }
        channel?.read()
        return count
    }

    /// Waits for space and sends as many bytes as fit. On return the system has as many of them as it takes now, so they are sent even if
    /// the program ends. Nil after an error or once closed.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let (count, channel) = waiting { value -> (Int?, (any Channel)?)? in
            if value.sending >= Self.capacity && value.isAlive || value.isConnecting { return nil }
            guard case .open = value.phase, value.output != .closed, let channel = value.channel else {
                return (nil, nil)
            }
            let count = min(bytes.count, Self.capacity - value.sending)
            value.sending += count
            return (count, channel)
        }
        guard let count, let channel, count > 0 else { return count }
        let buffer = ByteBuffer(bytes: bytes[..<count])
        let loop = channel.eventLoop
        if loop.inEventLoop {
            send(buffer, on: channel)
        } else {
            try? loop.submit { self.send(buffer, on: channel) }.wait()
        }
        return count
    }

    private func send(_ buffer: ByteBuffer, on channel: any Channel) {
        let count = buffer.readableBytes
        channel.writeAndFlush(buffer).whenComplete { [self] result in
            let mustClose = change { value in
                value.sending -= count
                if case .failure(let error) = result, case .open = value.phase { value.phase = .failed(.stream(error)) }
                return value.isOver && value.sending == 0
            }
            if mustClose { channel.close(promise: nil) }
        }
    }
}
