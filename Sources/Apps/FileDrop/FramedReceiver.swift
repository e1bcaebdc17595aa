import AppSupport
import DNSSD
import FileDropCore
import NIOCore

/// The receiving side of the framed mode.
struct FramedReceiver {
    let target: TargetFolder
    let progress: Progress

    /// Takes everything that one sender has.
    /// - Returns: how many files there are now, of how many bytes.
    func run(_ stream: ByteStream) async throws -> (files: Int, bytes: Int64) {
        defer { progress.clear() }
        return try await Transfer.run(stream) { inbound, outbound, silence in
            var reader = MessageReader(inbound)
            do {
                return try await receive(&reader, outbound, silence)
            } catch {
                if let message = Self.report(error) {
                    try? await Transfer.send(message, to: outbound)
                    // Who is still sending would see a broken connection before the reason.
                    await Transfer.finish(outbound, reader, of: stream.channel, within: .seconds(3))
                }
                throw error
            }
        }
    }

    private func receive(
        _ reader: inout MessageReader, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws -> (files: Int, bytes: Int64) {
        try await outbound.write(ByteBuffer(bytes: Message.greeting))
        try await reader.greeting()
        var (files, bytes, entries): (Int, Int64, Int) = (0, 0, 0)
        progress.begin(total: nil)
        while true {
            silence.restart()
            switch try await reader.next() {
            case .total(_, let total): progress.begin(total: total)
            case .entry(let entry):
                entries += 1
                guard entries <= SourceTree.maximumItems else { throw MessageReader.nonsense }
                if entry.kind == .folder {
                    try await blocking { [target] in try target.makeFolder(entry.path) }
                } else {
                    progress.name(entry.path.text)
                    let exchange = FileExchange(
                        entry: entry, target: target, progress: progress, outbound: outbound, silence: silence)
                    try await exchange.run(&reader)
                    files += 1
                    bytes += entry.size
                }
                try await Transfer.send(.complete, to: outbound)
            case .end:
                try await Transfer.send(.end, to: outbound)
                return (files, bytes)
            case .failure(let failure, let text): throw Transfer.error(failure, text)
            default: throw MessageReader.nonsense
            }
        }
    }

    /// What to tell the sender of an error that is ours; nothing of one that is its own, or the network's.
    private static func report(_ error: any Error) -> Message? {
        switch error {
        case let failure as FileFailure: .failure(failure.kind, failure.error.message)
        case let error as AppError where error.status == .badData: .failure(.badData, error.message)
        default: nil
        }
    }
}
