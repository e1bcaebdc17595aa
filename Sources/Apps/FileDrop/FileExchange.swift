import AppSupport
import FileDropCore

/// One file of the framed mode, on the receiving side: what is here, what is missing, whether it is right.
struct FileExchange {
    let entry: Entry
    let target: TargetFolder
    let progress: Progress
    let outbound: Transfer.Outbound
    let silence: Silence

    func run(_ reader: inout MessageReader) async throws {
        let (entry, target) = (entry, target)
        if let digest = try await blocking({ try ExistingFile.digest(of: entry, in: target) }) {
            guard try await offset(entry.size, digest, &reader) == 0, entry.size > 0 else {
                guard case .digest(digest) = try await reader.next() else { throw MessageReader.nonsense }
                progress.advance(Int(entry.size))
                return tell(entry.path, digest, "is here already")
            }
            // Another file of that name and size: this one gets another name.
            let file = try await blocking { try IncomingFile(in: target, path: entry.path) }
            return try await receive(file, &reader)
        }
        let file = try await blocking { try IncomingFile(in: target, resuming: entry) }
        let count = file.count
        do {
            guard try await offset(count, file.digest, &reader) == count else {
                try file.restart()
                return try await receive(file, &reader)
            }
        } catch {
            if count > 0 { file.keep() }
            throw error
        }
        progress.advance(Int(count))
        try await receive(file, &reader, resumedAt: count)
    }

    /// Says what is here.
    /// - Returns: from where the sender goes on.
    private func offset(_ count: Int64, _ digest: [UInt8], _ reader: inout MessageReader) async throws -> Int64 {
        guard target.hasRoom(for: entry.size - count) else {
            throw FileFailure.noRoom(entry)
        }
        try await Transfer.send(.have(offset: count, digest: digest), to: outbound)
        guard case .from(let offset) = try await reader.next(), offset == count || offset == 0 else {
            throw MessageReader.nonsense
        }
        return offset
    }

    private func receive(
        _ file: IncomingFile, _ reader: inout MessageReader, resumedAt start: Int64 = 0
    ) async throws {
        while true {
            let message: Message
            do {
                message = try await reader.next()
            } catch {
                // The next attempt goes on from here.
                if file.count > 0 { file.keep() }
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
                    throw AppError(.badData, "\(entry.path.text) was damaged on the way: its checksum is wrong")
                }
                let entry = entry
                try await blocking { try file.commit(modified: entry.modified, isExecutable: entry.isExecutable) }
                return tell(file.finalName ?? entry.path, digest, start > 0 ? "went on from byte \(start)" : nil)
            case .failure(let failure, let text): throw Transfer.error(failure, text)
            default: throw MessageReader.nonsense
            }
        }
    }

    private func tell(_ path: RelativePath, _ digest: [UInt8], _ note: String?) {
        progress.tell("received", path.text, bytes: entry.size, digest: digest, note: note)
    }
}
