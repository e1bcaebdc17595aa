import AppSupport
import AppTLS
import CommandFrame
import DiscoveryTLS
import FileDropCore
import NIOCore
import Synchronization

/// The sending side in the framed mode.
struct FramedSender {
    let tree: SourceTree
    let acquaintances: Acquaintances
    let progress: Progress
    let log: EventLog

    /// Sends everything. Returns when the receiver has stored it all, except for what it leaves out.
    func run(_ connection: DropConnection) async throws {
        defer { progress.clear() }
        let channel = connection.stream.channel
        try await Transfer.run(connection) { peer, inbound, outbound, silence in
            let replies = Replies()
            try await withThrowingTaskGroup { group in
                group.addTask { await replies.read(inbound) }
                do {
                    try await outbound.write(ByteBuffer(bytes: Message.greeting))
                    let hurry = Silence(Transfer.introduction) { channel.close(promise: nil) }
                    let introduction = try await Introduction(peer, acquaintances) {
                        try await Transfer.send($0, to: outbound)
                    } next: {
                        try await replies.next()
                    }
                    hurry.cancel()
                    connection.seat?.introduced(isKnown: introduction.isKnown)
                    log.tell(introduction, at: connection.place)
                    if !introduction.isKnown { try await admit(introduction, connection) }
                    replies.admit()
                    try await send(replies, outbound, silence)
                } catch let failure as FileFailure {
                    try? await Transfer.send(.failure(failure.kind, failure.error.message), to: outbound)
                    throw failure
                } catch let refused as Refused {
                    try? await Transfer.send(.failure(.notPermitted, refused.told.rawValue), to: outbound)
                    throw refused
                } catch let error where !(error is CommandError) {
                    // The receiver's reason is more useful than a broken pipe.
                    if let reason = await replies.reason() { throw reason }
                    throw error
                }
                outbound.finish()
                group.cancelAll()
            }
        }
    }

    private func admit(_ introduction: Introduction, _ connection: DropConnection) async throws {
        let amount = Transfer.amount(Int64(tree.items.count), tree.bytes)
        try await acquaintances.admit(
            introduction, connection, "It is at \(connection.place), and would get \(amount).", "Send that")
    }

    private func send(_ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence) async throws {
        try await Transfer.send(.total(entries: Int64(tree.items.count), bytes: tree.bytes), to: outbound)
        progress.begin(total: tree.bytes)
        for item in tree.items {
            silence.restart()
            var sent: Sent?
            if item.entry.kind == .folder {
                try await Transfer.send(.entry(item.entry), to: outbound)
            } else {
                sent = try await send(item, replies, outbound, silence)
                guard sent != nil else { continue }
            }
            switch try await replies.next() {
            case .complete:
                if let sent {
                    progress.tell(
                        "sent", item.entry.path.text, bytes: sent.bytes, digest: sent.digest, note: sent.note)
                }
            case .leftOut(let reason): tellLeftOut(item, reason)
            default: throw MessageReader.nonsense
            }
        }
        try await Transfer.send(.end, to: outbound)
        guard try await replies.next() == .end else { throw MessageReader.nonsense }
    }

    private func tellLeftOut(_ item: SourceTree.Item, _ reason: String) {
        log.leftOut(item.path, of: "the receiver", reason)
    }

    /// What the receiver is to confirm.
    private struct Sent {
        let bytes: Int64
        let digest: [UInt8]
        let note: String?
    }

    /// - Returns: nil if the receiver left the entry out; otherwise an answer is still to come.
    private func send(
        _ item: SourceTree.Item, _ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws -> Sent? {
        progress.name(item.entry.path.text)
        let file = try await blocking { try SourceFile(item.path) }
        var entry = item.entry
        entry.size = file.size
        try await Transfer.send(.entry(entry), to: outbound)
        var start: Int64 = 0
        switch try await replies.next() {
        case .have(0): break
        case .have(let offset) where offset <= file.size:
            // In pieces, so that it stops when we or the receiver stop.
            while try await blocking({ try file.skip(to: offset) }) {
                try Task.checkCancellation()
                try replies.check()
                silence.restart()
            }
            try await Transfer.send(.begins(digest: file.digest), to: outbound)
            guard case .isSame(let isSame) = try await replies.next() else { throw MessageReader.nonsense }
            if isSame { start = offset } else { try await blocking { try file.restart() } }
        case .leftOut(let reason):
            tellLeftOut(item, reason)
            return nil
        default: throw MessageReader.nonsense
        }
        progress.advance(Int(start))
        if start < file.size || start == 0 { try await sendData(of: file, replies, outbound, silence) }
        let note = start > 0 ? (start == file.size ? "was there already" : "went on from byte \(start)") : nil
        return Sent(bytes: file.size, digest: file.digest, note: note)
    }

    private func sendData(
        of file: SourceFile, _ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws {
        while true {
            let bytes = try await blocking { try file.read() }
            guard !bytes.isEmpty else { break }
            try replies.check()
            var buffer = ByteBuffer(bytes: Message.dataHeader(bytes.count))
            buffer.writeBytes(bytes)
            try await outbound.write(buffer)
            silence.restart()
            progress.advance(bytes.count)
        }
        try await Transfer.send(.digest(file.digest), to: outbound)
    }
}

/// Reads the receiver's messages while data is being sent, so that a failure is noticed at once.
final class Replies: Sendable {
    private let stream: AsyncThrowingStream<Message, any Error>
    private let continuation: AsyncThrowingStream<Message, any Error>.Continuation
    private let failure = Mutex<CommandError?>(nil)
    private let isOver = Mutex(false)
    private let isAdmitted = Mutex(false)

    init() {
        // A receiver that keeps the rules is never more than one message ahead.
        (stream, continuation) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingOldest(8))
    }

    func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async {
        var reader = MessageReader(inbound)
        do {
            try await reader.greeting()
            while true {
                let message = try await reader.next()
                if case .failure(let kind, let text) = message {
                    throw Transfer.error(kind, text, isAdmitted: isAdmitted.withLock { $0 })
                }
                guard case .enqueued = continuation.yield(message) else { throw MessageReader.nonsense }
            }
        } catch {
            failure.withLock { $0 = (error as? CommandError) ?? (error as? PeerRefusal).map { CommandError($0) } }
            continuation.finish(throwing: error)
        }
        isOver.withLock { $0 = true }
    }

    /// The other side is known, or a person has said yes to it: its words may be printed.
    func admit() { isAdmitted.withLock { $0 = true } }

    /// The next message.
    func next() async throws -> Message {
        for try await message in stream { return message }
        throw CancellationError()
    }

    /// - Throws: the reason why the receiver cannot continue.
    func check() throws { if let failure = failure.withLock({ $0 }) { throw failure } }

    /// Why the receiver cannot continue, if it says so within 2 s.
    func reason() async -> CommandError? {
        try? await Deadline.run(.seconds(2)) { [self] in while try await stream.first(where: { _ in true }) != nil {} }
        return failure.withLock { $0 }
    }
}
