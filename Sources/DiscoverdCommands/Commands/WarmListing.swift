#if Commands
internal import CommandFrame
internal import Discovery
internal import DiscoveryControl

/// `browse --once` answered from the daemon's memory: prints its lines unchanged.
struct WarmListing {
    let session: Session
    let printer: ServicePrinter
    let subject: Subject
    let query: QueryString

    /// - Returns: nil, with nothing printed, if the daemon's answer is incomplete; then read the stream.
    func run() async throws -> ExitStatus? {
        guard let daemon = session.daemon,
            let bytes = try? await daemon.send(WarmAnswer.request(query, json: session.json), within: .seconds(1)),
            let answer = WarmAnswer(bytes, json: session.json)
        else { return nil }
        answer.tellWhatIsMissing(session.notices)
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
