#if Commands
internal import CommandFrame
internal import Discovery
internal import DiscoveryControl

/// `browse --once` when the daemon knows the answer already: its lines are taken as they are.
struct WarmListing {
    let session: Session
    let printer: ServicePrinter
    let subject: Subject
    let query: QueryString

    /// - Returns: nil, with nothing printed, when the daemon does not know all: then the stream is to be read.
    func run() async throws -> ExitStatus? {
        guard let daemon = session.daemon,
            let bytes = try? await daemon.send(WarmAnswer.request(query, json: session.json), within: .seconds(1)),
            let answer = WarmAnswer(bytes, json: session.json)
        else { return nil }
        answer.tellWhatIsMissing(session.notices, of: subject)
        if session.terminal.isInteractive, !session.json {
            for line in String(decoding: answer.lines, as: UTF8.self).split(separator: "\n") {
                try printer.show(text: line)
            }
        } else {
            try session.output.bytes(answer.lines)
        }
        try session.output.flush()
        if answer.hasServices { return .done }
        session.notices.notice(subject.isNotFound)
        return .notFound
    }
}
#endif
