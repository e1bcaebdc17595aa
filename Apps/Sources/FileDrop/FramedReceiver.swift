import AppSupport
import CommandFrame
import DiscoveryTLS
import FileDropCore
import NIOCore
import PeerIdentity

/// The receiving side in the framed mode.
struct FramedReceiver {
    let inbox: Inbox
    let acquaintances: Acquaintances
    let progress: Progress
    let log: EventLog

    /// Receives everything that one sender has.
    func run(_ connection: DropConnection) async throws {
        defer { progress.clear() }
        inbox.parts.tidy()
        let channel = connection.stream.channel
        try await Transfer.run(connection) { peer, inbound, outbound, silence in
            var reader = MessageReader(inbound)
            do {
                let hurry = Silence(Transfer.introduction) { channel.close(promise: nil) }
                defer { hurry.cancel() }
                try await outbound.write(ByteBuffer(bytes: Message.greeting))
                try await reader.greeting()
                let introduction = try await Introduction(peer, acquaintances) {
                    try await Transfer.send($0, to: outbound)
                } next: {
                    try await reader.expected()
                }
                hurry.cancel()
                connection.seat?.introduced(isKnown: introduction.isKnown)
                reader.isAdmitted = introduction.isKnown
                log.tell(introduction, at: connection.place)
                let question = Silence(Transfer.question) { channel.close(promise: nil) }
                defer { question.cancel() }
                guard case .total(let entries, let bytes) = try await reader.expected() else {
                    throw MessageReader.nonsense
                }
                question.cancel()
                var allowance: Allowance?
                if !introduction.isKnown {
                    try await acquaintances.admit(
                        introduction, connection,
                        "It has \(Transfer.amount(entries, bytes)) for this machine, and is at \(connection.place).",
                        "Take that")
                    allowance = Allowance(entries: entries, bytes: bytes)
                }
                progress.begin(total: bytes)
                let sender = try await self.sender(connection, peer)
                try await receive(from: sender, allowance, &reader, outbound, silence)
            } catch {
                if let message = Self.report(error) {
                    try? await Transfer.send(message, to: outbound)
                    // A sender that is still sending would see a broken connection before the reason.
                    await Transfer.finish(outbound, reader, of: channel, within: .seconds(3))
                }
                throw error
            }
        }
    }

    private func sender(_ connection: DropConnection, _ peer: PeerTLS.Peer) async throws -> Sender {
        let inbox = inbox
        let name = await acquaintances.name(of: peer)
        let landing = try await blocking { inbox.landing(of: peer.key.bytes) }
        return Sender(
            key: peer.key.bytes, landing: landing, presence: connection.presence,
            name: "\(name) (\(connection.place))")
    }

    private func receive(
        from sender: Sender, _ allowance: Allowance?, _ reader: inout MessageReader, _ outbound: Transfer.Outbound,
        _ silence: Silence
    ) async throws {
        var entries = 0
        var allowance = allowance
        while true {
            silence.restart()
            let message = try await reader.next()
            switch message {
            case .entry, .refusedEntry:
                entries += 1
                guard entries <= SourceTree.maximumItems else { throw MessageReader.nonsense }
            default: break
            }
            switch message {
            case .entry(let entry):
                guard allowance?.takes(entry) != false else {
                    throw CommandError(.badData, "more was sent than the person here was asked about")
                }
                if entry.kind == .folder {
                    try await blocking { try sender.landing.makeFolder(entry) }
                } else {
                    progress.name(entry.path.text)
                    let exchange = FileExchange(
                        entry: entry, sender: sender, inbox: inbox, progress: progress, outbound: outbound,
                        silence: silence)
                    try await exchange.run(&reader)
                }
                try await Transfer.send(.complete, to: outbound)
            case .refusedEntry(let path, let problem):
                log.leftOut(String(decoding: path, as: UTF8.self), of: sender.name, problem.rawValue)
                try await Transfer.send(.leftOut(problem.rawValue), to: outbound)
            case .end: return try await Transfer.send(.end, to: outbound)
            case .failure(let failure, let text): throw Transfer.error(failure, text)
            default: throw MessageReader.nonsense
            }
        }
    }

    /// What to tell the sender about an error of ours; nil for its own errors and the network's.
    private static func report(_ error: any Error) -> Message? {
        switch error {
        case let failure as FileFailure: .failure(failure.kind, failure.error.message)
        case let refused as Refused: .failure(.notPermitted, refused.told.rawValue)
        case let error as CommandError where error.status == .badData: .failure(.badData, error.message)
        default: nil
        }
    }
}
