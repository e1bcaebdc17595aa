package import DNSSD
package import DiscoverySystem
internal import Libc

/// A connection to a Unix socket, for use by one thread. The last reference closes it.
package final class UnixConnection {
    /// The result of waiting.
    package enum Received {
        case bytes([UInt8])
        /// The other side closed.
        case ended
        /// Nothing came in time.
        case timedOut
        /// The bell was rung.
        case rung
    }

    private let descriptor: Int32
    /// Why the other side ended it, where that is known; nil otherwise.
    let whyItEnded: @Sendable () -> String?
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// Connects and checks the peer. Waits, until `deadline` at most, only while the daemon is behind with accepting
    /// connections.
    /// - Throws: `.notFound` if there is no socket; `.notPermitted`; `.untrusted` if another user may have created it;
    ///   `.busy` if it was not accepted in time; `.backendUnavailable` if no process listens.
    package init(path: String, until deadline: Deadline) throws(DiscoveryError) {
        whyItEnded = { nil }
        guard path.utf8.first != 0, let address = SocketAddress(unix: Array(path.utf8)) else {
            throw DiscoveryError(.notFound, "\(path.quotedForMessage) cannot be the path of a socket")
        }
        do throws(SystemError) {
            descriptor = try Sockets.make(address.family, waits: true)
        } catch {
            throw Self.error(error.code, path)
        }
        var result: Int32
        repeat {
            // SO_SNDTIMEO limits a connect(2) that waits (socket(7)); 0 would mean no limit.
            let left = Int(max(deadline.milliseconds, 1))
            var time = timeval(tv_sec: left / 1000, tv_usec: left % 1000 * 1000)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
            result = address.connect(descriptor)
        } while result != 0 && errno == EINTR
        if result != 0 { throw Self.error(errno, path) }
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw Self.error(errno, path) }
        try checkTrust(path)
    }

    /// One end of a pair, which it takes over.
    package init(
        connected descriptor: Int32, whyItEnded: @escaping @Sendable () -> String?
    ) throws(DiscoveryError) {
        (self.descriptor, self.whyItEnded) = (descriptor, whyItEnded)
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw Self.error(errno, "a connection") }
    }

    private func checkTrust(_ path: String) throws(DiscoveryError) {
        guard let user = Sockets.peer(of: descriptor)?.user else { throw Self.error(errno, path) }
        let trust = SocketTrust.system
        guard !trust.isTrusted(peer: user), !trust.isTrusted(path: path) else { return }
        throw DiscoveryError(
            .untrusted,
            "\(path.quotedForMessage) is not trusted: user \(user) listens there, who is neither root nor you, and "
                + "others than root and you may have put it there")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends everything, until `deadline` at most.
    package func send(_ bytes: [UInt8], until deadline: Deadline) throws(DiscoveryError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe Libc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 {
                rest = rest.dropFirst(sent)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&item, 1, deadline.milliseconds) != 0 else {
                    throw DiscoveryError(.timedOut, "the daemon does not read what it is sent")
                }
            // The daemon may have answered before reading everything, for example that the request is too long.
            case EPIPE, ECONNRESET: return
            default: throw Self.error(errno, "the control socket")
            }
        }
    }

    /// Waits for bytes, the end of the stream, or the bell.
    package func receive(until deadline: Deadline, bell: WakeUp?) throws(DiscoveryError) -> Received {
        while true {
            var items = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&items, 2, deadline.milliseconds)
            if count == 0 { return .timedOut }
            if count < 0 {
                guard errno == EINTR else { throw Self.error(errno, "the control socket") }
                continue
            }
            if items[1].revents != 0 {
                bell?.clear()
                return .rung
            }
            let received = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            if received > 0 { return .bytes(Array(buffer[..<received])) }
            if received == 0 { return .ended }
            switch errno {
            case EINTR, EAGAIN: continue
            case ECONNRESET: return .ended
            default: throw Self.error(errno, "the control socket")
            }
        }
    }

    private static func error(_ code: Int32, _ what: String) -> DiscoveryError {
        let kind: DiscoveryError.Code =
            switch code {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM: .notPermitted
            // A process listens, but its backlog is full (unix(7)).
            case EAGAIN: .busy
            default: .backendUnavailable
            }
        guard kind != .busy else {
            return DiscoveryError(
                kind, "\(what.escapedForTerminal): the daemon is busy, and accepts no connection in time")
        }
        return DiscoveryError(kind, SystemError(code, what.escapedForTerminal).description)
    }
}

extension DiscoveryError.Code {
    /// The daemon is running but too busy.
    static let busy = DiscoveryError.Code("busy")
    /// Another user may have created the socket.
    static let untrusted = DiscoveryError.Code("untrusted-socket")
}

/// A point in time on the monotonic clock, for `poll`.
package struct Deadline {
    private let instant: ContinuousClock.Instant

    init(at instant: ContinuousClock.Instant) { self.instant = instant }

    /// This long from now.
    package init(in duration: Duration) { instant = .now + min(duration, .seconds(1 << 32)) }

    /// Milliseconds until then, rounded up.
    package var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: instant)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        // poll(2) waits at most 24 days; the caller checks again.
        return Int32(clamping: min(seconds, 1 << 32) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
