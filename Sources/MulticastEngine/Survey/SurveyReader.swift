import DiscoverySystem
import Libc

/// Reads what comes to the sockets of a survey; its time begins with its creation.
struct SurveyReader {
    /// The most packets that are read.
    private static let mostPackets = 20_000
    /// How often a caller's wish to end is looked at.
    static let longestWait = Duration.milliseconds(100)

    private let sockets: [SurveySocket]
    private let start = MonotonicTime.now
    private var polled: [pollfd]
    private var count = 0

    init(_ sockets: [SurveySocket]) {
        self.sockets = sockets
        polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    }

    /// Whether so much has come that nothing more is read.
    var isFull: Bool { count >= Self.mostPackets }

    /// How long it has been reading.
    var passed: Duration { .microseconds(MonotonicTime.now.microseconds - start.microseconds) }

    /// Waits until something comes, for `time` and a millisecond at the most, and reads it.
    /// - Parameter body: receives each datagram, its socket and when it was read.
    mutating func read(within time: Duration, _ body: (SurveySocket.Datagram, SurveySocket, Duration) -> Void) {
        let milliseconds = max(.zero, time).wholeMicroseconds / 1000 + 1
        guard unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: milliseconds)) > 0 else { return }
        let now = passed
        for (socket, polled) in zip(sockets, polled) where polled.revents != 0 {
            for datagram in socket.receive() {
                count += 1
                body(datagram, socket, now)
            }
        }
    }
}
