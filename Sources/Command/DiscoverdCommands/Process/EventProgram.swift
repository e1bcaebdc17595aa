#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import DiscoveryJSON
internal import Libc
internal import DiscoverySystem

/// The program of `browse --exec`: runs once for each event, one at a time, without a shell.
///
/// What the network says reaches it as data alone: the JSON line on its standard input, and three variables.
struct EventProgram {
    private let path: [UInt8]
    private let notices: ProgramNotices

    /// - Throws: status 127 unless the program exists, searched for as a shell does.
    init(_ path: String, notices: ProgramNotices) throws {
        self.path = Array(path.utf8)
        self.notices = notices
        try ChildProcess.checkExistence(of: self.path)
    }

    /// Runs the program for a service that came, changed or went, and waits for its end. Cancelling the task asks it to end.
    func run(for event: ServiceEvent) async throws {
        guard let (name, service) = event.told else { return }
        var line = JSONWriter()
        line.line(event, detail: .full)
        let input = try Program.memoryFile()
        defer { close(input) }
        if let code = Descriptor.write(line.bytes, to: input) { throw SystemError(code, "write") }
        lseek(input, 0, SEEK_SET)
        // A variable ends at a zero byte; the line has the name as it is.
        let text = service.instance.name.text.replacing("\0", with: "\u{FFFD}")
        let child = try ChildProcess(
            [path], .input(input),
            environment: [
                "DISCOVERD_EVENT": name, "DISCOVERD_NAME": text, "DISCOVERD_TYPE": service.instance.type.description,
            ])
        if let status = await child.ended(), status.rawValue != 0, !Task.isCancelled {
            let program = String(decoding: path, as: UTF8.self)
            notices.notice(
                "\(program.escapedForTerminal) ended with status \(status.rawValue): \(name) \(service.instance)")
        }
    }
}

extension ServiceEvent {
    /// What a program is told: the event's name as in JSON, and the service; nil for what is no service's.
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
