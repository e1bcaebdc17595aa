internal import DNSSD
internal import DiscoverySystem
internal import Libc

/// One check in progress: where it waits, and until when.
struct Probe: Sendable {
    let poller: Poller
    let deadline: ContinuousClock.Instant
    let limit: Duration
    /// What a program is ended by; 0 in a test of one that nothing ends.
    var signal = SIGKILL

    init?(within limit: Duration) {
        guard let poller = Poller.shared else { return nil }
        self.poller = poller
        self.limit = limit
        deadline = .now + limit
    }

    /// Waits until `descriptor` is ready.
    func wait(for descriptor: Int32, _ events: Int32) async throws(ProbeFailure) {
        try check(await poller.wait(for: descriptor, events, until: deadline))
    }

    private func check(_ outcome: Poller.Outcome) throws(ProbeFailure) {
        switch outcome {
        case .ready: break
        case .timedOut: throw ProbeFailure("no answer within \(limit)")
        case .cancelled: throw ProbeFailure("cancelled")
        }
    }
}

/// Why a check did not pass; always the same words for the same reason, or every check would be news.
struct ProbeFailure: Error, Hashable {
    /// Safe for a terminal.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    /// - Parameter code: an `errno`.
    init(_ what: String, code: Int32) {
        self.reason = SystemError(code, what).description
    }
}

extension Probe {
    /// Connects to a port of this machine, over IPv4 or IPv6, and closes.
    func tcp(_ port: Port) async throws(ProbeFailure) {
        close(try await connect(to: port))
    }

    /// - Returns: a connected, non-blocking descriptor, which the caller closes.
    func connect(to port: Port) async throws(ProbeFailure) -> Int32 {
        do {
            return try await connect(to: port, at: .v4(IPv4Address(bits: 0x7F00_0001)))
        } catch {
            // A server may listen on ::1 alone. What the first attempt said is of interest when that fails too.
            guard let descriptor = try? await connect(to: port, at: .v6(IPv6Address(high: 0, low: 1), scope: 0)) else {
                throw error
            }
            return descriptor
        }
    }

    private func connect(to port: Port, at address: IPAddress) async throws(ProbeFailure) -> Int32 {
        let address = SocketAddress(address, port: port.rawValue)
        guard let descriptor = try? Sockets.make(address.family) else { throw ProbeFailure("no socket", code: errno) }
        do throws(ProbeFailure) {
            let what = "port \(port) on this machine"
            if address.connect(descriptor) == -1 {
                guard errno == EINPROGRESS else { throw ProbeFailure(what, code: errno) }
                try await wait(for: descriptor, POLLOUT)
                let code = Sockets.pendingError(of: descriptor)
                guard code == 0 else { throw ProbeFailure(what, code: code) }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}

extension Probe {
    /// Whether a process runs; one that ended but was not waited for does not.
    func pid(_ number: Int32) throws(ProbeFailure) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try Program.descriptor(of: number)
        } catch {
            throw ProbeFailure("process \(number)", code: error.code)
        }
        defer { close(descriptor) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 0) == 0 else { throw ProbeFailure("process \(number) has ended") }
    }

    /// Whether a systemd unit is active, or reloads: what `systemctl is-active` says.
    func unit(_ name: String) async throws(ProbeFailure) {
        let status = try await run(["systemctl", "is-active", "--quiet", "--", name])
        guard status != 127 else { throw ProbeFailure("systemctl is not there") }
        guard status == 0 else { throw ProbeFailure("\(name.escapedForTerminal) is not active") }
    }

    /// Whether a program ends with status 0.
    func exec(_ command: [String]) async throws(ProbeFailure) {
        let status = try await run(command)
        guard status == 0 else {
            let name = (command.first ?? "").escapedForTerminal
            throw ProbeFailure(
                status > 128 ? "\(name) was ended by signal \(status - 128)" : "\(name) ended with status \(status)")
        }
    }

    /// Runs a program and waits for it; in the end nothing of its process group is left that SIGKILL ends.
    private func run(_ command: [String]) async throws(ProbeFailure) -> Int32 {
        let child = try CheckProcess.start(command)
        let outcome = await poller.wait(for: child.descriptor, POLLIN, until: deadline)
        // Whatever it started goes with it, and a program that did not end, ends now.
        let status = try await child.end(by: signal, poller)
        try check(outcome)
        return status
    }
}

extension Probe {
    /// The most that is read of an answer: its status line is all that counts.
    private static let maximumAnswer = 512

    /// Asks with HTTP/1.1 and expects 2xx or 3xx. The body is not waited for.
    func http(_ path: String, _ port: Port) async throws(ProbeFailure) {
        let descriptor = try await connect(to: port)
        defer { close(descriptor) }
        let request =
            "GET \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nUser-Agent: discoverd\r\n"
            + "Accept: */*\r\nConnection: close\r\n\r\n"
        try await send(Array(request.utf8), to: descriptor)
        let line = try await statusLine(from: descriptor)
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else {
            throw ProbeFailure("port \(port) did not answer with HTTP")
        }
        guard (200..<400).contains(status) else {
            throw ProbeFailure("HTTP \(status) for \(path.escapedForTerminal)")
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) async throws(ProbeFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Libc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 {
                rest = rest.dropFirst(sent)
            } else if errno == EAGAIN {
                try await wait(for: descriptor, POLLOUT)
            } else if errno != EINTR {
                throw ProbeFailure("HTTP request", code: errno)
            }
        }
    }

    private func statusLine(from descriptor: Int32) async throws(ProbeFailure) -> String {
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: Self.maximumAnswer)
        while answer.count < Self.maximumAnswer {
            let got = unsafe recv(descriptor, &buffer, Self.maximumAnswer - answer.count, 0)
            if got > 0 {
                answer += buffer.prefix(got)
                if let end = answer.firstIndex(of: UInt8(ascii: "\r")) ?? answer.firstIndex(of: UInt8(ascii: "\n")) {
                    return String(decoding: answer[..<end], as: UTF8.self)
                }
            } else if got == 0 {
                throw ProbeFailure("the connection was closed without an answer")
            } else if errno == EAGAIN {
                try await wait(for: descriptor, POLLIN)
            } else if errno != EINTR {
                throw ProbeFailure("HTTP answer", code: errno)
            }
        }
        return ""
    }
}

/// A program that is run for a check: in a process group of its own, without input, its output thrown away.
struct CheckProcess: ~Copyable {
    /// How long one that was killed may take to end. Longer takes what waits in the kernel, as for a disk or a file server that is away.
    private static let patience = Duration.seconds(1)
    /// Commands whose program does not end: none of them is started again before, so that there are not more each time.
    private static let stuck = Locked<Set<[String]>>([])

    /// Readable when the program has ended (pidfd_open(2)).
    let descriptor: Int32
    private let id: pid_t
    private let command: [String]

    /// Starts a program, found as a shell finds it.
    /// - Parameter command: its name and arguments; not empty.
    static func start(_ command: [String]) throws(ProbeFailure) -> CheckProcess {
        guard !isStuck(command) else { throw doesNotEnd(command) }
        do throws(SystemError) {
            let child = try Program.start(command.map { Array($0.utf8) }, .nowhere, hasOwnGroup: true, isFresh: true)
            do throws(SystemError) {
                // Not waited for yet, so the number cannot be another's.
                return CheckProcess(descriptor: try Program.descriptor(of: child), id: child, command: command)
            } catch {
                kill(-child, SIGKILL)
                _ = status(of: child, 0)
                throw error
            }
        } catch {
            throw ProbeFailure(name(of: command), code: error.code)
        }
    }

    /// Kills the rest of the process group and waits for the program: for a moment here, and then on a thread of its own.
    /// - Returns: its status, or 128 plus the number of the signal that ended it.
    consuming func end(by signal: Int32, _ poller: Poller) async throws(ProbeFailure) -> Int32 {
        let (id, descriptor, command) = (self.id, self.descriptor, self.command)
        kill(-id, signal)
        // Not of this task, which may be cancelled.
        let wait = Task { await poller.wait(for: descriptor, POLLIN, until: ContinuousClock.now + Self.patience) }
        _ = await wait.value
        close(descriptor)
        if let status = Self.status(of: id, WNOHANG) { return status }
        Self.stuck.withLock { _ = $0.insert(command) }
        let code = SystemThread.start(named: "check's end") {
            _ = Self.status(of: id, 0)
            Self.stuck.withLock { _ = $0.remove(command) }
        }
        // Nobody can wait for it: it may be started again.
        if code != 0 { Self.stuck.withLock { _ = $0.remove(command) } }
        throw Self.doesNotEnd(command)
    }

    /// Whether a program of this command was killed and has not ended.
    static func isStuck(_ command: [String]) -> Bool { stuck.withLock { $0.contains(command) } }

    private static func doesNotEnd(_ command: [String]) -> ProbeFailure {
        ProbeFailure("\(name(of: command)) does not end, not even by SIGKILL")
    }

    private static func name(of command: [String]) -> String { (command.first ?? "").escapedForTerminal }

    /// How a program has ended, once it has; nil where that is not waited for.
    /// - Parameter options: of waitpid(2): 0, or WNOHANG.
    private static func status(of id: pid_t, _ options: Int32) -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = unsafe waitpid(id, &status, options)
            if ended == 0 { return nil }
            if ended == id { return Program.status(status) }
            // ECHILD: SIGCHLD is ignored, which takes the status away.
            guard errno == EINTR else { return 255 }
        }
    }
}
