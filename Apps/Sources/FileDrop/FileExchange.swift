import AppSupport
import CommandFrame
import FileDropCore

/// The receiving side of one file in the framed mode: finds out what is here, gets what is missing, verifies the result.
struct FileExchange {
    let entry: Entry
    let sender: Sender
    let inbox: Inbox
    let progress: Progress
    let outbound: Transfer.Outbound
    let silence: Silence

    func run(_ reader: inout MessageReader) async throws {
        let (entry, sender, inbox) = (entry, sender, inbox)
        let place = try await blocking { try sender.landing.place(of: entry) }
        if let existing = sender.landing.existing(entry, in: place), entry.size > 0 {
            let offered = try await offer(entry.size, &reader)
            let isSame = try await blocking { existing.isSame(as: offered) { sender.presence.isThere } }
            try await answer(isSame)
            if isSame {
                progress.advance(Int(entry.size))
                return tell(existing.path, offered, "is here already")
            }
            let file = try await blocking { try IncomingFile(in: place, name: entry.path) }
            return try await receive(file, &reader)
        }
        let file = try await blocking { try IncomingFile(in: place, resuming: entry, of: sender.key) }
        let count = file.count
        guard count > 0 else {
            try await begin()
            return try await receive(file, &reader)
        }
        let isSame: Bool
        do {
            let offered = try await offer(count, &reader)
            isSame = try await blocking { try file.isSame(as: offered) { sender.presence.isThere } }
            try await answer(isSame)
        } catch {
            // Whatever an earlier attempt left is as good as before.
            if file.count > 0 { inbox.parts.keep(file) }
            throw error
        }
        if isSame { progress.advance(Int(count)) }
        try await receive(file, &reader, resumedAt: isSame ? count : 0)
    }

    /// Starts from an empty file.
    private func begin() async throws {
        guard inbox.target.hasRoom(for: entry.size) else { throw FileFailure.noRoom(entry) }
        try await Transfer.send(.have(offset: 0), to: outbound)
    }

    /// Reports how many bytes may already be here.
    /// - Returns: the sender's checksum of that many bytes.
    private func offer(_ count: Int64, _ reader: inout MessageReader) async throws -> [UInt8] {
        guard inbox.target.hasRoom(for: entry.size - count) else { throw FileFailure.noRoom(entry) }
        try await Transfer.send(.have(offset: count), to: outbound)
        guard case .begins(let digest) = try await reader.next() else { throw MessageReader.nonsense }
        silence.restart()
        return digest
    }

    private func answer(_ isSame: Bool) async throws {
        guard sender.presence.isThere else { throw MessageReader.ended }
        silence.restart()
        if !isSame, !inbox.target.hasRoom(for: entry.size) { throw FileFailure.noRoom(entry) }
        try await Transfer.send(.isSame(isSame), to: outbound)
    }

    private func receive(
        _ file: IncomingFile, _ reader: inout MessageReader, resumedAt start: Int64 = 0
    ) async throws {
        if start == entry.size, start > 0 { return try await commit(file, start) }
        while true {
            let message: Message
            do {
                message = try await reader.next()
            } catch {
                // The next attempt continues from here.
                inbox.parts.keep(file)
                throw error
            }
            silence.restart()
            switch message {
            case .data(let bytes):
                guard Int64(bytes.count) <= entry.size - file.count else { throw MessageReader.nonsense }
                try await blocking { try file.append(bytes) }
                progress.advance(bytes.count)
            case .digest(let digest):
                guard file.count == entry.size, digest == file.digest else {
                    file.discard()
                    throw CommandError(.badData, "\(entry.path.text) was damaged on the way: its checksum is wrong")
                }
                return try await commit(file, start)
            case .failure(let failure, let text): throw Transfer.error(failure, text)
            default: throw MessageReader.nonsense
            }
        }
    }

    private func commit(_ file: IncomingFile, _ start: Int64) async throws {
        let (entry, sender, isProgram) = (entry, sender, entry.isExecutable && inbox.takesPrograms)
        let digest = file.digest
        try await blocking {
            try file.commit(modified: entry.modified, isExecutable: isProgram)
            sender.landing.note(file, for: entry, digest: digest)
        }
        tell(file.finalName ?? entry.path, digest, start > 0 ? "went on from byte \(start)" : nil)
    }

    private func tell(_ path: RelativePath, _ digest: [UInt8], _ note: String?) {
        progress.tell("received", path.text, bytes: entry.size, digest: digest, note: note, from: sender.name)
    }
}

/// The sender, as far as the receiver knows it.
struct Sender: Sendable {
    /// The fingerprint of the sender's key.
    let key: [UInt8]
    let landing: Landing
    let presence: DropConnection.Presence
    /// For people: the name by which it is known, or that it gives itself, and its address.
    let name: String
}
