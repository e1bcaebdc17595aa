#if Commands
internal import CommandFrame
internal import DiscoveryJSON

/// The result of one check of `doctor`.
package struct CheckResult: Sendable {
    package enum Verdict: String, Sendable {
        case ok, warn, fail
        /// It does not count here, or is not known.
        case skip

        var colour: Colour? {
            switch self {
            case .skip: nil
            case .ok: .green
            case .warn: .yellow
            case .fail: .red
            }
        }
    }

    /// The check's name, for scripts.
    let check: String
    let verdict: Verdict
    /// What the check found.
    let text: String
    /// What to do about it, if anything.
    let advice: String?

    /// - Parameters:
    ///   - text: safe for a terminal.
    package init(_ check: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.text = text
        self.advice = advice
    }

    /// The same, where it does not count.
    var skipped: CheckResult { CheckResult(check, .skip, text) }

    /// Prints the finding; on a terminal, the advice is on its own line.
    func show(in session: Session) throws {
        if session.json { return try session.output.json { write(to: &$0) } }
        var record = Record()
        record.add(verdict.rawValue, width: 4, colour: verdict.colour)
        record.add(check, width: 10)
        record.add(text, width: 0)
        if let advice, !session.terminal.isInteractive { record.add(advice, width: 0) }
        try session.output.line(record.line(for: session.terminal))
        guard let advice, session.terminal.isInteractive else { return }
        var second = Record()
        second.add("", width: 4)
        second.add("", width: 10)
        second.add(advice, width: 0)
        try session.output.line(second.line(for: session.terminal))
    }

    private func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("v", 1)
            json.member("check", check)
            json.member("verdict", verdict.rawValue)
            json.member("text", text)
            if let advice { json.member("advice", advice) }
        }
        json.endLine()
    }
}
#endif
