#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryTLS
internal import Glibc
internal import PeerIdentity
internal import System

/// Asks the person at the terminal about a key, as ssh(1) does: on /dev/tty, for standard input and output may carry data.
enum TerminalQuestion {
    /// One question at a time.
    private static let turn = Locked(())

    /// Nil where there is no terminal.
    static var asker: (@Sendable (PeerTLS.Question) async -> Bool)? {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        close(terminal)
        return { question in
            await withCheckedContinuation { continuation in
                do throws(CommandError) {
                    try BlockingThread.start { continuation.resume(returning: turn.withLock { _ in ask(question) }) }
                } catch {
                    continuation.resume(returning: false)
                }
            }
        }
    }

    private static func ask(_ question: PeerTLS.Question) -> Bool {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        var text = "The key of \(question.name.text) is not known:\n  \(question.key)\n"
        text += "  \(question.key.words.joined(separator: " "))\n"
        if !question.otherNames.isEmpty {
            text +=
                "It is known under another name: \(question.otherNames.prefix(3).map(\.text).joined(separator: ", "))\n"
        }
        text += "Is it the one that 'discoverd identity' prints there (yes/no)? "
        guard write(text, to: terminal) else { return false }
        return answer(from: terminal).lowercased() == "yes"
    }

    private static func write(_ text: String, to terminal: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.write(terminal, bytes, bytes.count) == bytes.count
    }

    private static func answer(from terminal: Int32) -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 16, unsafe read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }
}
#endif
