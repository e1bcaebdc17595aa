import Glibc

/// Asks a person at a terminal which of several is meant.
public struct Chooser: Sendable {
    private let notices: Notices

    /// Nil when there is no person to ask: standard input or error is no terminal, or the output is for a program.
    public init?(_ app: App) {
        guard !app.json, isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        notices = app.notices
    }

    /// Lists `lines` with numbers and waits for one of them.
    /// - Returns: the place of the chosen one, from 0.
    /// - Throws: `AppError` with `.notDone` when none is chosen.
    public func choose(_ lines: [String]) async throws -> Int {
        for (index, line) in lines.enumerated() { notices.text("  \(index + 1)  \(line)\n") }
        var framing = LineFraming(limit: 100)
        let input = StandardInput()
        while true {
            notices.prompt("Which one? [1-\(lines.count)] ")
            guard let bytes = await input.read() else { throw AppError(.notDone, "none was chosen") }
            for case .line(let line) in framing.received(bytes) {
                let text = String(decoding: line, as: UTF8.self)
                if let number = Int(text), lines.indices.contains(number - 1) { return number - 1 }
            }
        }
    }
}
