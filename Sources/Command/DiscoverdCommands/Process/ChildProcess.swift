#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc
internal import Synchronization

/// A program that runs beside a command.
final class ChildProcess: Sendable {
    private let id: pid_t
    /// True once the program has been waited for. Its process id may then belong to another process, so `kill` must not use it.
    private let hasEnded = Mutex(false)
    /// Starts a program, searched for as a shell does.
    /// - Parameters:
    ///   - arguments: its name and arguments, byte for byte; not empty.
    ///   - streams: where its standard input and output lead.
    ///   - environment: added to this process's.
    /// - Throws: status 127 or 126, as of a shell.
    init(
        _ arguments: [[UInt8]], _ streams: Program.Streams = .inherited, environment: [String: String] = [:]
    ) throws(CommandError) {
        let name = String(decoding: arguments.first ?? [], as: UTF8.self)
        // If SIGCHLD were inherited as ignored, the program's status would be lost (waitpid(2)).
        signal(SIGCHLD, SIG_DFL)
        do throws(SystemError) {
            id = try Program.start(arguments, streams, environment: environment)
        } catch {
            guard error.code != ENOENT else {
                throw CommandError(.programNotFound, "\(name.escapedForTerminal): no such program")
            }
            throw CommandError(
                .programNotExecutable, "\(name.escapedForTerminal): cannot be started: \(systemMessage(error.code))")
        }
    }

    /// Sends a signal, unless the program has ended.
    func send(_ signal: Int32) {
        hasEnded.withLock { if !$0 { kill(id, signal) } }
    }

    /// Asks the program to end, if it still runs.
    func end() { send(SIGTERM) }

    /// Calls `report` with the program's status when it ends: its exit status, or 128 plus the number of the signal that killed it.
    func whenEnded(_ report: @escaping @Sendable (ExitStatus) -> Void) throws {
        try BlockingThread.start {
            var status: Int32 = 0
            // WNOWAIT keeps the id taken until `hasEnded` is set.
            var info = unsafe siginfo_t()
            while unsafe waitid(P_PID, id_t(self.id), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            self.hasEnded.withLock { hasEnded in
                while unsafe waitpid(self.id, &status, 0) == -1, errno == EINTR {}
                hasEnded = true
            }
            report(ExitStatus(rawValue: Program.status(status)))
        }
    }
}

extension ChildProcess {
    /// Runs a program with a connection as its standard input and output, as inetd does, and waits for it to end. Cancelling the task asks
    /// the program to end.
    static func serve(_ socket: Socket, with program: [[UInt8]]) async throws(CommandError) {
        let child = try ChildProcess(program, .connection(socket.descriptor))
        // Open here as well until then: the other side is watched.
        _ = await child.ended()
        socket.close()
    }

    /// Waits for the program to end. Cancelling the task asks it to.
    /// - Returns: its status; nil when no thread is left to wait with: it is on its own then.
    func ended() async -> ExitStatus? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do {
                    try whenEnded { continuation.resume(returning: $0) }
                } catch {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            end()
        }
    }

    /// Throws unless there is such a program now that may be started, searched for as a shell does.
    static func checkExistence(of program: [UInt8]) throws(CommandError) {
        let name = program.map { CChar(bitPattern: $0) } + [0]
        let path = Environment.value("PATH") ?? "/bin:/usr/bin"
        let folders = program.contains(UInt8(ascii: "/")) ? [""] : path.split(separator: ":").map { "\($0)/" }
        func isThere(_ mode: Int32) -> Bool {
            folders.contains { unsafe access($0.utf8.map { CChar(bitPattern: $0) } + name, mode) == 0 }
        }
        guard !isThere(X_OK) else { return }
        let text = String(decoding: program, as: UTF8.self).escapedForTerminal
        guard !isThere(F_OK) else {
            throw CommandError(.programNotExecutable, "\(text): cannot be started: \(systemMessage(EACCES))")
        }
        throw CommandError(.programNotFound, "\(text): no such program")
    }
}

/// The program of `browse --exec`: runs once for each event, one at a time, without a shell.
///
/// What the network says reaches it as data alone: the JSON line on its standard input, and three variables.
struct EventProgram {
    private let path: [UInt8]
    private let version: JSONVersion
    private let notices: ProgramNotices

    /// - Throws: status 127 unless the program exists, searched for as a shell does.
    init(_ path: String, _ version: JSONVersion, notices: ProgramNotices) throws {
        self.path = Array(path.utf8)
        self.version = version
        self.notices = notices
        try ChildProcess.checkExistence(of: self.path)
    }

    /// Runs the program for a service that came, changed or went, and waits for its end. Cancelling the task asks it to end.
    ///
    /// What goes wrong is a notice: it ends nothing.
    func run(for event: ServiceEvent) async {
        guard let (name, service) = event.told else { return }
        let told = "\(name) \(service.instance)"
        do {
            let status = try await end(of: event, name, service)
            guard let status, status.rawValue != 0, !Task.isCancelled else { return }
            let program = String(decoding: path, as: UTF8.self).escapedForTerminal
            notices.notice("\(program) ended with status \(status.rawValue): \(told)")
        } catch {
            notices.notice("\(CommandError(of: error, asking: DomainWish()).message): \(told)")
        }
    }

    /// - Returns: how the program ended.
    private func end(of event: ServiceEvent, _ name: String, _ service: DiscoveredService) async throws -> ExitStatus? {
        let line = version.line { $0.line(event, detail: .full) }
        let input = try Program.memoryFile()
        defer { close(input) }
        if let code = Descriptor.write(line, to: input) { throw SystemError(code, "write") }
        lseek(input, 0, SEEK_SET)
        // A variable ends at a zero byte; the line has the name as it is.
        let text = service.instance.name.text.replacing("\0", with: "\u{FFFD}")
        let child = try ChildProcess(
            [path], .input(input),
            environment: [
                "DISCOVERD_EVENT": name, "DISCOVERD_NAME": text, "DISCOVERD_TYPE": service.instance.type.description,
            ])
        return await child.ended()
    }
}

extension ServiceEvent {
    /// What a program is given: the event's name as in JSON, and the service; nil for an event without a service.
    fileprivate var told: (String, DiscoveredService)? {
        switch self {
        case .found(let service): ("added", service)
        case .changed(let service): ("updated", service)
        case .lost(let service): ("removed", service)
        case .settled, .backend, .degraded: nil
        }
    }
}
#endif
