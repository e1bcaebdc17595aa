internal import DNSSD
internal import DiscoverySystem

/// Sends requests to the daemon over its control socket, each on a connection of its own.
public struct ControlClient: Sendable {
    /// A request of HTTP/1.1.
    public struct Request: Sendable {
        /// `GET`, `POST`, `DELETE`.
        public var method: String
        /// Path and query: `/v1/status`.
        public var target: String
        /// JSON, if there is a body.
        public var body: [UInt8]?

        /// Creates a request.
        public init(_ method: String, _ target: String, body: [UInt8]? = nil) {
            self.method = method
            self.target = target
            self.body = body
        }

        var bytes: [UInt8] {
            var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
            if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
            return Array((head + "Connection: close\r\n\r\n").utf8) + (body ?? [])
        }
    }

    /// The longest answer in bytes.
    private static let maximumAnswer = 64 * 1024 * 1024
    private static let late = ControlError(504, "timed-out", "the daemon did not answer in time")

    /// The socket.
    public var path: String { place.name }
    private let place: ControlPlace

    /// Creates a client; nothing is connected yet.
    public init(path: String) { self.init(ControlPlace(path: path)) }

    init(_ place: ControlPlace) { self.place = place }

    /// The result of looking for a daemon.
    public struct Search: Sendable {
        /// The first that answers, or answers that it is too busy.
        public var daemon: ControlClient?
        /// Why earlier sockets were skipped: this user cannot trust them. Safe for a terminal.
        public var refusals: [String] = []
        /// Earlier sockets where a process listens but did not answer in time.
        public var silent: [String] = []
    }

    /// Finds the first socket at which a daemon answers. Waits up to `limit` for each; a socket without a listener
    /// costs no wait.
    ///
    /// Blocks the calling thread, so call it before anything else runs.
    public static func find(_ paths: [String], within limit: Duration) -> Search {
        var search = Search()
        for path in paths {
            let client = ControlClient(path: path)
            do throws(DiscoveryError) {
                guard let isDaemon = try client.answers(until: Deadline(in: limit)) else {
                    search.silent.append(path)
                    continue
                }
                guard isDaemon else { continue }
                search.daemon = client
                return search
            } catch {
                switch error.code {
                case .busy:
                    search.daemon = client
                    return search
                case .untrusted: search.refusals.append(error.message)
                default: break
                }
            }
        }
        return search
    }

    /// - Returns: whether it is a daemon; nil if it does not answer in time.
    func answers(until deadline: Deadline) throws(DiscoveryError) -> Bool? {
        let connection = try place.connect(deadline)
        try connection.send(Request("GET", "/v1/ping").bytes, until: deadline)
        return switch try connection.receive(until: deadline, bell: nil) {
        case .bytes(let bytes): bytes.starts(with: "HTTP/1.".utf8)
        case .timedOut: nil
        case .ended, .rung: false
        }
    }

    /// Sends a request and waits up to `limit` for its answer, on a thread of its own.
    /// - Returns: the body of an answer with a status of 200 to 299.
    /// - Throws: the daemon's error, or one with status 503 if it does not answer.
    public func send(_ request: Request, within limit: Duration = .seconds(10)) async throws(ControlError) -> [UInt8] {
        let result = await withCheckedContinuation { continuation in
            let code = SystemThread.start {
                continuation.resume(returning: self.answer(to: request, within: limit))
            }
            if code != 0 {
                continuation.resume(returning: .failure(ControlError(503, "no-thread", "the system has no thread")))
            }
        }
        return try result.get()
    }

    /// Sends a request and waits up to `limit` for its answer, on this thread.
    /// - Returns: as `send`; the error's code is `no-daemon` if there is no socket.
    public func answer(to request: Request, within limit: Duration) -> Result<[UInt8], ControlError> {
        let deadline = Deadline(in: limit)
        do throws(DiscoveryError) {
            let connection = try place.connect(deadline)
            try connection.send(request.bytes, until: deadline)
            var reader = HTTPResponseReader()
            var body: [UInt8] = []
            while !reader.isDone {
                let received = try connection.receive(until: deadline, bell: nil)
                do throws(HTTPResponseReader.Failure) {
                    switch received {
                    case .bytes(let bytes): try reader.received(bytes)
                    case .ended:
                        guard (try? reader.ended()) != nil else {
                            let done = request.method == "GET" ? "" : "; what was asked for may be done all the same"
                            return .failure(
                                ControlError(502, "protocol", "the daemon went away before it had answered\(done)"))
                        }
                    case .timedOut, .rung: return .failure(Self.late)
                    }
                } catch {
                    return .failure(ControlError(502, "protocol", error.reason))
                }
                body += reader.takeBody()
                guard body.count <= Self.maximumAnswer else {
                    return .failure(ControlError(502, "protocol", "the answer is too long"))
                }
                // Of one that comes byte by byte, too: the limit is of the whole answer.
                guard deadline.milliseconds > 0 || reader.isDone else { return .failure(Self.late) }
            }
            let status = reader.status ?? 502
            return 200..<300 ~= status ? .success(body) : .failure(ControlError(status: status, body: body))
        } catch {
            let code = error.code == .notFound ? "no-daemon" : error.code.description
            return .failure(ControlError(503, code, error.message))
        }
    }
}
