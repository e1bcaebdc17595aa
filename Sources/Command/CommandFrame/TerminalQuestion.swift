import CommandText
import DiscoverySystem
import Libc

/// Asks the person at the terminal, as ssh(1) does: on /dev/tty, for standard input and output may carry data.
public enum TerminalQuestion {
    /// How long a person may think.
    public static let patience = Duration.seconds(55)
    /// After so many other answers, there is none.
    private static let mostTries = 20
    /// A person is being asked: one question at a time.
    private static let isAsking = Locked(false)
    /// The last question was shown and went without an answer, which may yet be typed.
    private static let isAnswerOwed = Locked(false)
    private static let another = """

        The question before is over; what is typed now does not answer it. There is another one.
        Press Enter to see it:
        """

    /// Whether there is a terminal, and the process is in its foreground.
    public static var isPossible: Bool {
        guard let terminal = ControllingTerminal() else { return false }
        terminal.close()
        return true
    }

    /// Whether there is a terminal; no longer once it has been hung up.
    public static var hasTerminal: Bool {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        Libc.close(descriptor)
        return true
    }

    /// Shows a text, which is escaped line by line, and waits for a line. Cancelling the task ends it.
    ///
    /// After a question that ended without an answer the next one comes after Enter, so that an answer which comes late is not taken for it.
    /// - Parameters:
    ///   - text: the question.
    ///   - answers: what is taken, in lower case; after anything else the person is asked again. Empty: any line.
    ///   - limit: how long a person may think.
    /// - Returns: what was typed, in lower case and without spaces around it; nil where no one can be asked, another question is open, or nothing
    ///   was typed in time.
    public static func ask(_ text: String, answers: [String] = [], within limit: Duration = patience) async -> String? {
        let isFree = isAsking.withLock { isAsking in
            defer { isAsking = true }
            return !isAsking
        }
        guard isFree else { return nil }
        defer { isAsking.withLock { $0 = false } }
        let end = WakeUp()
        return await withTaskCancellationHandler {
            try? await BlockingThread.value { answer(to: text, among: answers, within: limit, unless: end) }
        } onCancel: {
            end.signal()
        }
    }

    private static func answer(
        to text: String, among answers: [String], within limit: Duration, unless end: WakeUp
    ) -> String? {
        guard let terminal = ControllingTerminal() else { return nil }
        defer { terminal.close() }
        let deadline = ContinuousClock.now + limit
        let typed = { (prompt: String) in
            terminal.write(prompt + " ") ? terminal.line(within: max(.zero, deadline - .now), unless: end) : nil
        }
        if !answers.isEmpty, isAnswerOwed.withLock({ $0 }), typed(another) == nil { return nil }
        isAnswerOwed.withLock { $0 = true }
        var prompt = text.linesSafeForTerminal
        for _ in 0..<mostTries {
            guard let line = typed(prompt) else { return nil }
            let answer = line.trimmed().lowercased()
            if answers.isEmpty || answers.contains(answer) {
                isAnswerOwed.withLock { $0 = false }
                return answer
            }
            prompt = "Please type \(answers.dropLast().joined(separator: ", ")) or \(answers.last ?? ""):"
        }
        return nil
    }

}

/// The process's terminal, where the process is in its foreground: reading it from the background would stop the process.
private struct ControllingTerminal {
    private let descriptor: Int32

    init?() {
        descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        guard tcgetpgrp(descriptor) == getpgrp() else {
            Libc.close(descriptor)
            return nil
        }
    }

    func close() { Libc.close(descriptor) }

    /// Writes, and forgets what was typed before.
    func write(_ text: String) -> Bool {
        tcflush(descriptor, TCIFLUSH)
        let bytes = Array(text.utf8)
        return unsafe Libc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// The line that is typed; nil without one, and at the end of the terminal's input.
    func line(within limit: Duration, unless end: WakeUp) -> String? {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&polled, 2, Int32(clamping: limit.milliseconds)) > 0, polled[1].revents == 0,
            tcgetpgrp(descriptor) == getpgrp()
        else {
            // What follows begins on a line of its own.
            _ = unsafe Libc.write(descriptor, "\n", 1)
            return nil
        }
        var line = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(descriptor, &line, line.count)
        guard count > 0 else { return nil }
        return String(decoding: line.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
