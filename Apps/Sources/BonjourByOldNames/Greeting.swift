import DNSSD
import Foundation

/// One connection of the tutorial: sends a message, shows what arrives, and says each event of both streams.
@MainActor final class Greeting: NSObject, @MainActor StreamDelegate {
    private let input: InputStream
    private let output: OutputStream
    private var unsent: [UInt8]
    private var received: [UInt8] = []
    private let onMessage: (Greeting) -> Void
    private let onEnd: (Greeting) -> Void
    private var onSent: (() -> Void)?

    /// - Parameters:
    ///   - message: is sent when the connection is open; nil sends nothing.
    ///   - onMessage: a whole message came, which ends with NUL.
    init(
        _ input: InputStream, _ output: OutputStream, sending message: String?,
        onMessage: @escaping (Greeting) -> Void = { _ in }, onEnd: @escaping (Greeting) -> Void
    ) {
        self.input = input
        self.output = output
        self.onMessage = onMessage
        self.onEnd = onEnd
        unsent = message.map { Array($0.utf8) + [0] } ?? []
        super.init()
        for stream in [input, output] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    func send(_ message: String) {
        unsent += Array(message.utf8) + [0]
        if output.hasSpaceAvailable { write() }
    }

    /// Calls `body` when everything is sent: whoever is greeted first may not have said anything yet.
    func whenSent(_ body: @escaping () -> Void) {
        if unsent.isEmpty { body() } else { onSent = body }
    }

    func close() {
        input.close()
        output.close()
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        let which = stream === input ? "input" : "output"
        switch event {
        case .openCompleted: say("\(which): open completed")
        case .hasBytesAvailable:
            say("\(which): has bytes available")
            read()
        case .hasSpaceAvailable: write()
        case .errorOccurred:
            say("\(which): error: \(stream.streamError?.localizedDescription ?? "")")
            end()
        case .endEncountered:
            say("\(which): end encountered")
            end()
        default: break
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = input.read(&buffer, maxLength: buffer.count)
        guard count > 0 else { return }
        received += buffer[..<count]
        while let end = received.firstIndex(of: 0) {
            say("received: \(String(decoding: received[...end], as: UTF8.self).escapedForTerminal)")
            received.removeSubrange(...end)
            onMessage(self)
        }
        // A peer that never ends its message.
        if received.count > 64 * 1024 { end() }
    }

    private func write() {
        guard !unsent.isEmpty else { return }
        let count = output.write(unsent, maxLength: unsent.count)
        guard count > 0 else { return }
        say("output: \(count) bytes written")
        unsent.removeFirst(count)
        if unsent.isEmpty { onSent?() }
    }

    private func end() {
        close()
        onEnd(self)
    }
}
