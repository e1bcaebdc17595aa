internal import DNSSD
internal import Discovery
internal import DiscoverySystem
internal import Libc

/// A request whose response is an endless stream of lines. Repeated whenever the response ends, until it is cancelled.
///
/// It waits on a thread of its own, so commands need no event loop.
final class RemoteStream: Sendable {
    /// Events, delivered in order on the stream's thread; while the system has none, by a task.
    enum Event {
        case line([UInt8])
        /// The daemon answered with an error.
        case refused(ControlError)
        /// There is no daemon, or it went away; the request is repeated.
        case disconnected(String)
        /// The daemon hangs, for this reason; nil: it answers again. Its connection is the same.
        case hangs(String?)
        /// `wake` was called.
        case woken
    }

    /// The reason of `disconnected` where the daemon has not even been asked.
    static let noThread = "the system has no thread"

    private let pulse: Pulse
    private let staysWhenItHangs: Bool
    private let request: @Sendable () -> ControlClient.Request
    private let isWanted: @Sendable () -> Bool
    private let handle: @Sendable (Event) -> Void
    private let bell = WakeUp()
    private let cancelled = Locked(false)

    /// - Parameters:
    ///   - request: called before each repetition, too.
    ///   - staysWhenItHangs: a daemon that hangs is waited for on the same connection. Otherwise that is the end of the response.
    ///   - isWanted: called before each repetition; false ends the stream.
    ///   - handle: takes the events, and none after `cancel`.
    init(
        _ pulse: Pulse,
        _ request: @autoclosure @escaping @Sendable () -> ControlClient.Request,
        staysWhenItHangs: Bool = false,
        isWanted: @escaping @Sendable () -> Bool = { true },
        handle: @escaping @Sendable (Event) -> Void
    ) {
        self.pulse = pulse
        self.staysWhenItHangs = staysWhenItHangs
        self.request = request
        self.isWanted = isWanted
        self.handle = handle
    }

    /// Starts the thread, again and again where the system has none. Call it once.
    /// - Parameter thread: starts one; returns 0, or an `errno`.
    func start(
        on thread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Int32 = { SystemThread.start($0) }
    ) {
        guard thread({ self.run() }) != 0 else { return }
        // The caller may hold a lock that the receiver takes.
        Task {
            repeat {
                tell(.disconnected(Self.noThread))
                try? await Task.sleep(for: pulse.place.longestPause)
            } while !isCancelled && thread({ self.run() }) != 0
        }
    }

    func cancel() {
        cancelled.withLock { $0 = true }
        bell.signal()
    }

    /// Delivers `.woken` on the thread.
    func wake() { bell.signal() }

    private var isCancelled: Bool { cancelled.withLock { $0 } }

    private func tell(_ event: Event) { if !isCancelled { handle(event) } }

    private func run() {
        var patience = Duration.milliseconds(50)
        while !isCancelled, isWanted() {
            let began = ContinuousClock.now
            let reason = attempt()
            guard !isCancelled else { return }
            if let reason {
                pulse.place.became(reason)
                tell(.disconnected(reason))
            }
            patience =
                ContinuousClock.now - began > .seconds(5)
                ? .milliseconds(50) : min(patience * 2, pulse.place.longestPause)
            pause(Deadline(in: patience))
        }
    }

    private func pause(_ deadline: Deadline) {
        while !isCancelled {
            var item = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&item, 1, deadline.milliseconds)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bell.clear()
            tell(.woken)
        }
    }

    /// - Returns: why the response ended; nil if that has been reported.
    private func attempt() -> String? {
        do throws(DiscoveryError) {
            let deadline = Deadline(in: .seconds(5))
            let connection = try pulse.place.connect(deadline)
            try connection.send(request().bytes, until: deadline)
            return try read(connection)
        } catch {
            return "\(pulse.place.absence): \(error.message)"
        }
    }

    private func read(_ connection: UnixConnection) throws(DiscoveryError) -> String? {
        var reader = HTTPResponseReader()
        var splitter = LineSplitter(atMost: pulse.place.longestLine)
        var refusal: [UInt8] = []
        let began = ContinuousClock.now
        var hangs = false
        var pace = pulse.place.bytes
        while !isCancelled {
            do throws(HTTPResponseReader.Failure) {
                let deadline = pulse.deadline(since: began)
                switch Result(catching: { () throws(DiscoveryError) in
                    try connection.receive(until: deadline, bell: bell)
                }) {
                case .success(.bytes(let bytes)):
                    pulse.heard()
                    if hangs { tell(.hangs(nil)) }
                    hangs = false
                    try reader.received(bytes)
                    let wait = pace?.overdraw(Double(bytes.count), at: SystemTime().now) ?? .zero
                    if wait > .zero { pause(Deadline(in: wait)) }
                case .success(.ended):
                    if let reason = connection.whyItEnded() { return reason }
                    try reader.ended()
                case .success(.rung):
                    tell(.woken)
                    continue
                case .success(.timedOut):
                    let reason = pulse.answers() ? nil : "\(pulse.place.noun) does not answer"
                    if let reason, !staysWhenItHangs { return reason }
                    if hangs != (reason != nil) { tell(.hangs(reason)) }
                    hangs = reason != nil
                    continue
                case .failure(let error): return error.message
                }
            } catch {
                return "the daemon's answer broke off: \(error.reason)"
            }
            guard let status = reader.status else { continue }
            let body = reader.takeBody()
            guard 200..<300 ~= status else {
                refusal += body.prefix(max(0, 64 * 1024 - refusal.count))
                guard reader.isDone || refusal.count == 64 * 1024 else { continue }
                let error = ControlError(status: status, body: refusal)
                pulse.place.became(error.message)
                tell(.refused(error))
                return nil
            }
            guard let lines = splitter.received(body) else { return "the daemon's answer has a line without end" }
            for line in lines { tell(.line(line)) }
            // Any other byte may be an error's, or no answer at all.
            if lines.contains(where: { $0.first == UInt8(ascii: "{") }) { pulse.place.became(nil) }
            if reader.isDone { return "the daemon ended its answer" }
        }
        return nil
    }
}

/// Splits a stream of bytes into lines of bounded length.
public struct LineSplitter: Sendable {
    /// The longest line in bytes; a service with the largest TXT record and all its endpoints stays far below.
    public static let maximumLength = 1024 * 1024

    private let longest: Int
    private var pending: [UInt8] = []

    /// Creates a splitter.
    public init() { self.init(atMost: Self.maximumLength) }

    init(atMost longest: Int) { self.longest = longest }

    /// Consumes bytes.
    /// - Returns: the complete lines, without their ends; nil if a line is too long.
    public mutating func received(_ bytes: [UInt8]) -> [[UInt8]]? {
        var lines: [[UInt8]] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            lines.append(pending + bytes[start..<end])
            pending = []
            start = end + 1
        }
        pending.append(contentsOf: bytes[start...])
        return pending.count <= longest ? lines : nil
    }
}
