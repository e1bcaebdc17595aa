import AppSupport
import CommandFrame
import DNSSD
import DiscoveryJSON

/// Prints the events of a stream: the same five as of a `Stream` on Apple's platforms.
struct StreamEvents: Sendable {
    let app: App
    /// The other side's address, for people.
    let peer: String

    func opened() { tell("open-completed", "open completed") }

    func hasSpace() { tell("space-available", "space available") }

    func sent(_ bytes: [UInt8]) { tell("sent", "sent \(bytes.count) bytes:", bytes) }

    func received(_ bytes: [UInt8]) { tell("bytes-available", "\(bytes.count) bytes available:", bytes) }

    func ended() { tell("end", "end") }

    func failed(_ error: any Error) {
        let reason = failureText(error)
        if app.json {
            app.output.json("error") {
                $0.member("peer", peer)
                $0.member("reason", reason)
            }
        } else {
            app.output.line("\(peer)  error: \(reason)")
        }
    }

    private func tell(_ event: String, _ text: String, _ bytes: [UInt8]? = nil) {
        let content = bytes.map { String(decoding: $0, as: UTF8.self) }
        if app.json {
            app.output.json(event) {
                $0.member("peer", peer)
                guard let bytes, let content else { return }
                $0.member("bytes", bytes.count)
                $0.member("text", content)
            }
        } else {
            app.output.line("\(peer)  \(text)" + (content.map { " \"\($0.safeForTerminal)\"" } ?? ""))
        }
    }
}
