import AppSupport
import CommandFrame
import DNSSD
import Discovery
import FileDropCore
import NIOCore
import Synchronization

/// The sending side in the framed mode.
struct FramedSender {
    let tree: SourceTree
    let key: SenderKey
    let progress: Progress
    let log: EventLog
    /// Whether this side connected to the receiver: the dialled address is what gets signed.
    let isReceiverDialled: Bool

    /// Sends everything. Returns when the receiver has stored it all, except for what it leaves out.
    func run(_ connection: DropConnection) async throws {
        defer { progress.clear() }
        let channel = connection.stream.channel
        let address = (isReceiverDialled ? channel.remoteAddress : channel.localAddress)?.signedBytes ?? []
        try await Transfer.run(connection.stream) { inbound, outbound, silence in
            let replies = Replies()
            try await withThrowingTaskGroup { group in
                group.addTask { await replies.read(inbound) }
                do {
                    try await send(replies, outbound, silence, signing: address)
                } catch let failure as FileFailure {
                    try? await Transfer.send(.failure(failure.kind, failure.error.message), to: outbound)
                    throw failure
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

    private func send(
        _ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence, signing address: [UInt8]
    ) async throws {
        try await outbound.write(ByteBuffer(bytes: Message.greeting))
        guard case .challenge(let challenge) = try await replies.next(),
            let signature = key.sign(challenge, at: address)
        else { throw MessageReader.nonsense }
        let identity = Message.identity(
            key: key.publicKey, signature: signature, host: ServiceName.ofThisMachine().value)
        try await Transfer.send(identity, to: outbound)
        try await Transfer.send(.total(entries: Int64(tree.items.count), bytes: tree.bytes), to: outbound)
        progress.begin(total: tree.bytes)
        for item in tree.items {
            silence.restart()
            if item.entry.kind == .folder {
                try await Transfer.send(.entry(item.entry), to: outbound)
            } else if try await !send(item, replies, outbound, silence) {
                continue
            }
            switch try await replies.next() {
            case .complete: break
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

    /// - Returns: whether an answer is still to come; false if the receiver left the entry out.
    private func send(
        _ item: SourceTree.Item, _ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws -> Bool {
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
            return false
        default: throw MessageReader.nonsense
        }
        progress.advance(Int(start))
        if start < file.size || start == 0 { try await sendData(of: file, replies, outbound, silence) }
        let note = start > 0 ? (start == file.size ? "was there already" : "went on from byte \(start)") : nil
        progress.tell("sent", entry.path.text, bytes: file.size, digest: file.digest, note: note)
        return true
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
                if case .failure(let kind, let text) = message { throw Transfer.error(kind, text) }
                guard case .enqueued = continuation.yield(message) else { throw MessageReader.nonsense }
            }
        } catch {
            failure.withLock { $0 = error as? CommandError }
            continuation.finish(throwing: error)
        }
        isOver.withLock { $0 = true }
    }

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
