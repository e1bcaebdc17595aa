#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryTLS
internal import Glibc
internal import PeerIdentity
internal import System

/// Asks the person at the terminal about a key, as ssh(1) does: on /dev/tty, for standard input and output may carry data.
enum TerminalQuestion {
    /// How long a person may think.
    private static let patience: Int32 = 55  // s
    /// A person is being asked: who comes meanwhile is refused.
    private static let isAsking = Locked(false)

    /// Nil where nobody can be asked.
    static var asker: (@Sendable (PeerTLS.Question) async -> Bool)? {
        guard let terminal = Terminal() else { return nil }
        terminal.close()
        return { question in
            guard
                isAsking.withLock({ isAsking in
                    defer { isAsking = true }
                    return !isAsking
                })
            else { return false }
            defer { isAsking.withLock { $0 = false } }
            return await withCheckedContinuation { continuation in
                do throws(CommandError) {
                    try BlockingThread.start { continuation.resume(returning: ask(question)) }
                } catch {
                    continuation.resume(returning: false)
                }
            }
        }
    }

    private static func ask(_ question: PeerTLS.Question) -> Bool {
        guard let terminal = Terminal() else { return false }
        defer { terminal.close() }
        let who =
            if case .label = question.name { "A caller names itself \(question.name.text); its key" } else {
                "The key of \(question.name.text)"
            }
        var text = "\(who) is not known:\n  \(question.key)\n  \(question.key.words.joined(separator: " "))\n"
        if !question.otherNames.isEmpty {
            text +=
                "It is known under another name: \(question.otherNames.prefix(3).map(\.text).joined(separator: ", "))\n"
        }
        text += "Is it the one that 'discoverd identity' prints there (yes/no)? "
        return terminal.write(text) && terminal.answer(within: patience).lowercased() == "yes"
    }
}

/// The process's terminal, where the process is in its foreground: reading it from the background would stop the process.
private struct Terminal {
    private let descriptor: Int32

    init?() {
        descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        guard tcgetpgrp(descriptor) == getpgrp() else {
            Glibc.close(descriptor)
            return nil
        }
    }

    func close() { Glibc.close(descriptor) }

    /// Writes, and forgets what was typed before.
    func write(_ text: String) -> Bool {
        tcflush(descriptor, TCIFLUSH)
        let bytes = Array(text.utf8)
        return unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }

    /// The line that is typed within so many seconds; empty without one.
    func answer(within seconds: Int32) -> String {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&polled, 1, seconds * 1000) == 1, tcgetpgrp(descriptor) == getpgrp() else { return "" }
        var line = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(descriptor, &line, line.count)
        return String(decoding: line.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
#endif
