import AppSupport
import CommandFrame
import DNSSD
import FileDropCore
import NIOCore

/// The receiving side in the framed mode.
struct FramedReceiver {
    let inbox: Inbox
    let progress: Progress
    let log: EventLog
    /// Whether the sender connected to this receiver: the sender signs the address that was dialled.
    let isDialled: Bool

    /// Receives everything that one sender has.
    func run(_ connection: DropConnection) async throws {
        defer { progress.clear() }
        inbox.parts.tidy()
        let channel = connection.stream.channel
        try await Transfer.run(connection.stream) { inbound, outbound, silence in
            var reader = MessageReader(inbound)
            do {
                try await outbound.write(ByteBuffer(bytes: Message.greeting))
                try await reader.greeting()
                let sender = try await self.sender(connection, &reader, outbound)
                try await receive(from: sender, &reader, outbound, silence)
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

    private func sender(
        _ connection: DropConnection, _ reader: inout MessageReader, _ outbound: Transfer.Outbound
    ) async throws -> Sender {
        let challenge = SenderKey.newChallenge()
        try await Transfer.send(.challenge(challenge), to: outbound)
        guard case .identity(let key, let signature, let host) = try await reader.next() else {
            throw MessageReader.nonsense
        }
        let channel = connection.stream.channel
        let address = (isDialled ? channel.localAddress : channel.remoteAddress)?.signedBytes ?? []
        let isGenuine = SenderKey.isGenuine(signature, of: key, for: challenge, at: address)
        let inbox = inbox
        let landing = try await blocking { inbox.landing(of: isGenuine ? key : nil) }
        let place = channel.remoteAddress?.readableHost ?? "?"
        return Sender(
            key: isGenuine ? key : nil, landing: landing, presence: connection.presence,
            name: host.isEmpty ? place : "\(host) (\(place))")
    }

    private func receive(
        from sender: Sender, _ reader: inout MessageReader, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws {
        var entries = 0
        progress.begin(total: nil)
        while true {
            silence.restart()
            let message = try await reader.next()
            switch message {
            case .total(_, let total): progress.begin(total: total)
            case .entry, .refusedEntry:
                entries += 1
                guard entries <= SourceTree.maximumItems else { throw MessageReader.nonsense }
            default: break
            }
            switch message {
            case .total: break
            case .entry(let entry):
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
        case let error as CommandError where error.status == .badData: .failure(.badData, error.message)
        default: nil
        }
    }
}
