#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryPOSIX
internal import DiscoverySystem
internal import Libc

/// Says at a terminal what a command waits for and for how long still, on one line of standard error that is erased at the end.
struct Progress {
    /// A wait that is over before says nothing.
    private static let patience = Duration.milliseconds(500)

    /// As the end of "asking", safe for a terminal.
    let what: String
    let limit: Duration

    /// Runs `body`, and writes meanwhile.
    func during<Result>(in session: Session, _ body: () async throws -> Result) async throws -> Result {
        guard Self.isShown(by: session.notices) else { return try await body() }
        let line = Task { await write() }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        // The line is gone before anything else is written.
        line.cancel()
        await line.value
        return try result.get()
    }

    private static func isShown(by notices: ProgramNotices) -> Bool {
        notices.level >= .normal && isatty(STDERR_FILENO) == 1
            && !["", "dumb"].contains(Environment.value("TERM") ?? "dumb")
    }

    private func write() async {
        let end = ContinuousClock.now + limit
        guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
        repeat {
            let left = ((end - ContinuousClock.now).milliseconds + 999) / 1000
            Self.put("asking \(what)\(left > 0 ? ": \(left) s at most" : "")")
        } while (try? await Task.sleep(for: .seconds(1))) != nil
        Self.put("")
    }

    private static func put(_ text: String) {
        let columns = TerminalText.columns(STDERR_FILENO) ?? 80
        let fitted = text.fitted(to: columns - 1, isUTF8: TerminalText.isUTF8())
        ProgramNotices.write(Array("\r\u{1B}[K\(fitted)".utf8))
    }
}
#endif
