import DNSMessage

/// Decides to which server a question goes next, and when to give up. A value; times count from the question's
/// beginning.
struct Attempts: Sendable {
    /// The time limits of a question.
    struct Limits: Hashable, Sendable {
        /// The time for all attempts. It leaves room for other questions within the 5 s for which a caller waits.
        var total = Duration.seconds(4)
        /// The time until the next attempt.
        var interval = Duration.seconds(1)

        /// Creates the default limits, or those of /etc/resolv.conf if they are shorter.
        init(_ settings: ResolverSettings? = nil) {
            guard let settings else { return }
            interval = min(interval, settings.timeout ?? interval)
            if let timeout = settings.timeout {
                total = min(total, timeout * ((settings.attempts ?? 2) * max(1, settings.servers.count)))
            }
        }
    }

    /// How a message travels.
    enum Transport: Hashable, Sendable { case udp, tcp }

    /// A message sent to a server.
    struct Attempt: Hashable, Sendable {
        var server: ServerAddress
        var transport: Transport
        /// Whether the message has an OPT record.
        var hasEDNS: Bool
    }

    /// What the caller must do.
    enum Step: Hashable, Sendable {
        case send(Attempt)
        case wait
        case done(Message, ServerAddress)
        case failed(String)
    }

    /// When to call `next`.
    private(set) var deadline = Duration.zero

    private let servers: [ServerAddress]
    private let limits: Limits
    private var turn = 0
    private var withoutEDNS: Set<ServerAddress> = []
    private var overTCP: Set<ServerAddress> = []
    /// The servers that are not asked again, and why.
    private var refusals: [ServerAddress: String] = [:]
    /// The first answer of a server that failed or refused; returned if no other server has a better one.
    private var fallback: (Message, ServerAddress)?

    init(servers: [ServerAddress], limits: Limits) {
        (self.servers, self.limits) = (servers, limits)
    }

    /// The question begins, or the deadline has passed.
    mutating func next(at time: Duration) -> Step {
        guard time < limits.total else { return end("no answer from \(names) within \(limits.total)") }
        let left = servers.filter { refusals[$0] == nil }
        guard !left.isEmpty else {
            return end(
                servers.compactMap { server in refusals[server].map { "\(server): \($0)" } }.joined(separator: "; "))
        }
        deadline = min(time + limits.interval, limits.total)
        // Servers asked over TCP are not asked over UDP as well.
        let candidates = left.filter { !overTCP.contains($0) }
        guard !candidates.isEmpty else { return .wait }
        defer { turn += 1 }
        let server = candidates[turn % candidates.count]
        return .send(Attempt(server: server, transport: .udp, hasEDNS: !withoutEDNS.contains(server)))
    }

    /// An answer to the question arrived.
    mutating func received(_ message: Message, to attempt: Attempt, at time: Duration) -> Step {
        let server = attempt.server
        switch message.responseCode {
        case ResponseCode.formatError, ResponseCode.notImplemented:
            // Some servers do not support EDNS (RFC 6891 §7).
            if attempt.hasEDNS, withoutEDNS.insert(server).inserted {
                return .send(Attempt(server: server, transport: attempt.transport, hasEDNS: false))
            }
            return passOver(message, server, at: time)
        case ResponseCode.serverFailure, ResponseCode.refused: return passOver(message, server, at: time)
        default:
            guard message.flags.contains(.truncated), attempt.transport == .udp else { return .done(message, server) }
            guard overTCP.insert(server).inserted else { return .wait }
            deadline = limits.total
            return .send(Attempt(server: server, transport: .tcp, hasEDNS: attempt.hasEDNS))
        }
    }

    /// A message did not reach the server, or the connection ended.
    mutating func lost(_ attempt: Attempt, _ reason: String, at time: Duration) -> Step {
        refusals[attempt.server] = reason
        return next(at: time)
    }

    private mutating func passOver(_ message: Message, _ server: ServerAddress, at time: Duration) -> Step {
        if fallback == nil { fallback = (message, server) }
        refusals[server] = "it answers \(ResponseCode.name(of: message.responseCode))"
        return next(at: time)
    }

    private func end(_ reason: String) -> Step {
        fallback.map { .done($0.0, $0.1) } ?? .failed(reason)
    }

    private var names: String { servers.map(\.description).joined(separator: " and ") }
}
