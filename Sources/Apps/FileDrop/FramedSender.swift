import AppSupport
import FileDropCore
import NIOCore
import Synchronization

/// The sending side of the framed mode.
struct FramedSender {
    let tree: SourceTree
    let progress: Progress

    /// Sends everything; returns when the receiver has it all in its place.
    func run(_ stream: ByteStream) async throws {
        defer { progress.clear() }
        try await Transfer.run(stream) { inbound, outbound, silence in
            let replies = Replies()
            try await withThrowingTaskGroup { group in
                group.addTask { await replies.read(inbound) }
                do {
                    try await send(replies, outbound, silence)
                } catch let failure as FileFailure {
                    try? await Transfer.send(.failure(failure.kind, failure.error.message), to: outbound)
                    throw failure
                } catch let error where !(error is AppError) {
                    // The receiver's reason is better than a broken pipe.
                    if let reason = await replies.reason() { throw reason }
                    throw error
                }
                outbound.finish()
                group.cancelAll()
            }
        }
    }

    private func send(_ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence) async throws {
        try await outbound.write(ByteBuffer(bytes: Message.greeting))
        try await Transfer.send(.total(entries: Int64(tree.items.count), bytes: tree.bytes), to: outbound)
        progress.begin(total: tree.bytes)
        for item in tree.items {
            silence.restart()
            if item.entry.kind == .folder {
                try await Transfer.send(.entry(item.entry), to: outbound)
            } else {
                try await send(item, replies, outbound, silence)
            }
            guard try await replies.next() == .complete else { throw MessageReader.nonsense }
        }
        try await Transfer.send(.end, to: outbound)
        guard try await replies.next() == .end else { throw MessageReader.nonsense }
    }

    private func send(
        _ item: SourceTree.Item, _ replies: Replies, _ outbound: Transfer.Outbound, _ silence: Silence
    ) async throws {
        progress.name(item.entry.path.text)
        let file = try await blocking { try SourceFile(item.path) }
        var entry = item.entry
        entry.size = file.size
        try await Transfer.send(.entry(entry), to: outbound)
        guard case .have(let offset, let digest) = try await replies.next() else { throw MessageReader.nonsense }
        let isKnown = try await blocking { try offset > 0 && file.skip(offset, digest: digest) }
        try await Transfer.send(.from(offset: isKnown ? offset : 0), to: outbound)
        if isKnown { progress.advance(Int(offset)) }
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
        let note = isKnown ? (offset == file.size ? "was there already" : "went on from byte \(offset)") : nil
        progress.tell("sent", entry.path.text, bytes: file.size, digest: file.digest, note: note)
    }
}

/// What the receiver says, read while data is sent: a failure is seen at once.
final class Replies: Sendable {
    private let stream: AsyncThrowingStream<Message, any Error>
    private let continuation: AsyncThrowingStream<Message, any Error>.Continuation
    private let failure = Mutex<AppError?>(nil)
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
            failure.withLock { $0 = error as? AppError }
            continuation.finish(throwing: error)
        }
        isOver.withLock { $0 = true }
    }

    /// The next message.
    func next() async throws -> Message {
        for try await message in stream { return message }
        throw CancellationError()
    }

    /// - Throws: why the receiver cannot go on.
    func check() throws { if let failure = failure.withLock({ $0 }) { throw failure } }

    /// Why the receiver cannot go on, if it says so within 2 s.
    func reason() async -> AppError? {
        try? await Deadline.run(.seconds(2)) { [self] in while try await stream.first(where: { _ in true }) != nil {} }
        return failure.withLock { $0 }
    }
}
