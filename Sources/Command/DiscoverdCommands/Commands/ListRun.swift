#if Commands
internal import CommandText
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON

/// Runs `browse --types` and `--domains`: lists what is there, and follows changes unless it is to end.
struct ListRun {
    let session: Session
    let follows: Bool
    /// The message for an empty list.
    let nothing: String
    private(set) var gate: BackendGate
    private(set) var hasFound = false

    init(_ session: Session, follows: Bool, timeout: Duration?, nothing: String) {
        (self.session, self.nothing, self.follows) = (session, nothing, follows)
        gate = BackendGate(session)
        if let limit = timeout ?? (follows ? nil : .seconds(5)) { session.stop.request(.timedOut, after: limit) }
    }

    /// Prints an entry that appeared.
    /// - Parameter isOptional: it comes from where the command can do without.
    mutating func found(_ record: Record, isOptional: Bool = false, json: (inout JSONWriter) -> Void) throws {
        if !isOptional { gate.answered() }
        hasFound = true
        try show("added", "+", .green, record, json)
    }

    /// Prints an entry that disappeared.
    mutating func lost(_ record: Record, json: (inout JSONWriter) -> Void) throws {
        try show("removed", "-", .red, record, json)
    }

    /// Records the state of what answers for one of several domains.
    mutating func observe(_ state: BackendState, of domain: Domain = .local, stream: Int = 0) throws {
        let isNew = !gate.isOpen
        gate.note(state, of: domain, stream: stream)
        try session.show(state, isNew: isNew)
        try session.output.flush()
    }

    /// Reports that entries are missing.
    func degraded(_ reason: String) throws {
        session.notices.degraded(reason)
        if session.json { try session.output.json { $0.degradedLine(reason) } }
    }

    /// - Returns: the exit status if the list is complete; nil to continue.
    mutating func settled() throws -> ExitStatus? {
        gate.answered()
        if session.json { try session.output.json { $0.line("settled") } }
        try session.output.flush()
        return follows ? nil : tell(hasFound ? .done : .notFound)
    }

    func status() async throws -> ExitStatus {
        let status = try await session.status(found: hasFound, backend: gate)
        if !follows, let reason = session.shortfall(status, gate.silentServer) {
            try degraded(reason)
            try session.output.flush()
        }
        return tell(status)
    }

    private func tell(_ status: ExitStatus) -> ExitStatus {
        if status == .notFound { session.notices.notice(nothing) }
        return status
    }

    private func show(
        _ event: String,
        _ sign: String,
        _ colour: Colour,
        _ record: Record,
        _ json: (inout JSONWriter) -> Void
    ) throws {
        if session.json {
            try session.output.json { $0.line(event, json) }
        } else {
            var record = record
            if follows { record.fields.insert(.init(sign, 1, colour), at: 0) }
            try session.show(record)
        }
        if follows { try session.output.flush() }
    }
}
#endif
