#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import Libc
internal import DiscoverySystem

/// Connects sockets, waiting for each on its own thread: at most 8 at a time, and they end with the attempt.
///
/// Used instead of SwiftNIO because commands start faster without it (docs/decisions/0005-two-dialers.md).
struct SocketDialer: Dialer {
    func dial(_ endpoint: Endpoint) async throws -> Socket {
        do {
            return try await Self.connected(to: endpoint)
        } catch let error as SystemError {
            throw Self.failure(error.code)
        }
    }

    /// - Throws: `SystemError` where the system has the reason; `DialFailure`, or `CancellationError`.
    static func connected(to endpoint: Endpoint) async throws -> Socket {
        let address = SocketAddress(endpoint.address, port: endpoint.port.rawValue)
        let socket: Socket
        do throws(SystemError) {
            socket = try Socket(family: address.family)
        } catch {
            throw DialFailure(.refused, "no socket: \(error)")
        }
        let flags = fcntl(socket.descriptor, F_GETFL)
        _ = fcntl(socket.descriptor, F_SETFL, flags | O_NONBLOCK)
        if address.connect(socket.descriptor) != 0 {
            guard errno == EINPROGRESS else { throw SystemError(errno) }
            // Shutting down a connecting socket aborts the connection and wakes its poll.
            let error = try await withTaskCancellationHandler {
                try await wait(for: socket)
            } onCancel: {
                socket.end()
            }
            if Task.isCancelled { throw CancellationError() }
            guard error == 0 else { throw SystemError(error) }
        }
        _ = fcntl(socket.descriptor, F_SETFL, flags)
        socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        socket.watchPeer()
        return socket
    }

    func close(_ connection: Socket) async { connection.close() }

    private static func wait(for socket: Socket) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            do throws(CommandError) {
                try BlockingThread.start {
                    var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
                    while unsafe poll(&descriptor, 1, -1) < 1 {}
                    continuation.resume(returning: socket.pendingError)
                }
            } catch {
                continuation.resume(throwing: DialFailure(.refused, error.message))
            }
        }
    }

    static func failure(_ code: Int32) -> DialFailure {
        switch code {
        case ETIMEDOUT: DialFailure(.timeout, "no answer")
        case ECONNREFUSED: DialFailure(.refused, "connection refused")
        default: DialFailure(.refused, systemMessage(code).lowercasedFirst)
        }
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
#endif
