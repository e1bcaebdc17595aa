import AppSupport
import CommandFrame
import DNSSD
import FileDropCore
import Glibc
import NIOCore

/// Plain streams, as in SimpleNetworkStreams and `nc`: the bytes of one file until the end of the stream.
struct PlainTransfer {
    let progress: Progress

    /// Writes the stream to a file.
    /// - Returns: the file's size; nil if nothing arrived, which makes no file.
    func receive(_ stream: ByteStream, as path: RelativePath, in inbox: Inbox) async throws -> Int64? {
        defer { progress.clear() }
        return try await Transfer.run(stream) { inbound, outbound, silence in
            var file: IncomingFile?
            progress.begin(total: nil)
            progress.name(path.text)
            for try await buffer in inbound {
                let bytes = Array(buffer.readableBytesView)
                if file == nil { file = try await blocking { try IncomingFile(in: inbox.target.place, name: path) } }
                if let file { try await blocking { try file.append(bytes) } }
                silence.restart()
                progress.advance(bytes.count)
            }
            guard let file, !Task.isCancelled else { return nil }
            try await blocking { try file.commit() }
            let name = file.finalName ?? path
            let peer = stream.channel.remoteAddress?.readableHost
            progress.tell("received", name.text, bytes: file.count, digest: file.digest, from: peer)
            return file.count
        }
    }

    /// Sends a file and ends the stream; returns when the other side has ended it too, or after 10 s.
    func send(_ item: SourceTree.Item, to stream: ByteStream) async throws {
        defer { progress.clear() }
        try await Transfer.run(stream) { inbound, outbound, silence in
            let file = try await blocking { try SourceFile(item.path) }
            progress.begin(total: file.size)
            progress.name(item.entry.path.text)
            while true {
                let bytes = try await blocking { try file.read() }
                guard !bytes.isEmpty else { break }
                try await outbound.write(ByteBuffer(bytes: bytes))
                silence.restart()
                progress.advance(bytes.count)
            }
            await Transfer.finish(outbound, MessageReader(inbound), of: stream.channel, within: .seconds(10))
            progress.tell("sent", item.entry.path.text, bytes: file.size, digest: file.digest)
        }
    }

    /// Ends a plain stream. One that has a file to say is told why; to one that waits for a file, words would be a file.
    static func refuse(_ connection: DropConnection, tells: Bool) async throws -> Bool {
        try await Transfer.run(connection.stream) { inbound, outbound, _ in
            let text = "filedrop: no plain streams here; use filedrop on both sides, or --plain on both\n"
            if tells { try await outbound.write(ByteBuffer(string: text)) }
            await Transfer.finish(
                outbound, MessageReader(inbound), of: connection.stream.channel, within: .seconds(3))
        }
        throw CommandError(.unreachable, "a plain stream was refused: --plain takes them")
    }

    /// A name for a file received without one: `Test-20261121-064500`.
    static func name(after service: ServiceName) -> RelativePath {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        let two = { (number: Int32) in number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
        return RelativePath(
            cleaning: "\(service.text)-\(day)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))")
    }
}
