import FileDropCore
import Testing

@Suite("Messages of the framed mode")
struct MessageTests {
    private func entry(_ path: String = "a/b") throws -> Entry {
        Entry(
            path: try #require(RelativePath(path.utf8)), kind: .file, size: 5_000_000_000, modified: 1_700_000_000,
            isExecutable: true)
    }

    private func read(_ bytes: [UInt8]) -> Message? {
        let header = Array(bytes.prefix(Message.headerLength))
        guard let length = Message.bodyLength(header), bytes.count == header.count + length else { return nil }
        return Message(header: header, body: Array(bytes.dropFirst(header.count)))
    }

    @Test("every message is read as it was written")
    func roundTrip() throws {
        let digest = [UInt8](repeating: 7, count: 32)
        let messages: [Message] = [
            .acquainted(true), .acquainted(false), .pairing([1]), .pairing([UInt8](repeating: 9, count: 64)),
            .total(entries: 3, bytes: 1 << 40), .entry(try entry()), .leftOut("no"), .have(offset: 1 << 40),
            .begins(digest: digest), .isSame(true), .isSame(false), .data([1, 2, 3]), .digest(digest), .complete, .end,
            .failure(.noSpace, "full"),
        ]
        for message in messages { #expect(read(message.bytes) == message) }
    }

    @Test("the other side's words are one line, and no others than those: whatever it sends")
    func words() throws {
        let forged = "x\nfiledrop: the code is 350 353, here and there\r\u{1B}[2J\u{2028}\u{202E}"
        for (message, count) in [(Message.leftOut(forged), 6), (.failure(.other, forged), 6)] {
            let text: String? =
                switch try #require(read(message.bytes)) {
                case .leftOut(let text), .failure(_, let text): text
                default: nil
                }
            #expect(
                text?.contains("\n") == false && text?.unicodeScalars.count { $0 == "\u{FFFD}" } == count - 1,
                "\(text ?? "")")
        }
        let long = [0x4C, 0, 0, 0x10, 0] as [UInt8]
        guard case .leftOut(let text)? = Message(header: long, body: [UInt8](repeating: 0x61, count: 4096)) else {
            return #expect(Bool(false))
        }
        #expect(text.utf8.count == 1000)
    }

    @Test("a length beyond the limit is refused before anything is read")
    func tooLong() {
        #expect(Message.bodyLength(Message.dataHeader(Message.maximumData)) == Message.maximumData)
        #expect(Message.bodyLength(Message.dataHeader(Message.maximumData + 1)) == nil)
        #expect(Message.bodyLength([0x45, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
    }

    @Test("entries that break a rule are no entries; those with a bad path are, and are refused by name")
    func badEntries() throws {
        let good = try entry().bytes
        #expect(Entry(good) != nil)
        #expect(Entry(Array(good.prefix(34))) == nil)
        #expect(Entry([2] + good.dropFirst()) == nil, "no such kind")
        #expect(Entry([1] + good.dropFirst()) == nil, "a folder has no size")
        #expect(Entry([0, 0] + [UInt8](repeating: 0xFF, count: 8) + good.dropFirst(10)) == nil, "a negative size")
        #expect(Entry([0, 0, 0x7F] + good.dropFirst(3)) == nil, "a size that no disk has")
        for (path, problem) in [("../x", RelativePath.Problem.outside), ("a/.git", .hidden), ("a\n", .unsafe)] {
            let body = good.prefix(34) + Array(path.utf8)
            let header = [0x45, 0, 0, 0, UInt8(body.count)]
            #expect(Message(header: header, body: Array(body)) == .refusedEntry(path: Array(path.utf8), problem))
        }
    }

    @Test("no bytes do harm")
    func noise() {
        var random = SystemRandomNumberGenerator()
        let kinds = Array("KPTELHBADSCZX!".utf8)
        for round in 0..<20_000 {
            let length = Int.random(in: 0...60, using: &random)
            let header = [kinds[round % kinds.count], 0, 0, 0, UInt8(length)]
            let body = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            if let message = Message(header: header, body: body) { #expect(!message.bytes.isEmpty) }
        }
    }
}

extension Entry {
    /// The entry in a message; nil if it is invalid, or its path is refused.
    fileprivate init?(_ bytes: [UInt8]) {
        let header = [0x45, 0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        guard case .entry(let entry) = Message(header: header, body: bytes) else { return nil }
        self = entry
    }
}

@Suite("The progress bar")
struct ProgressLineTests {
    @Test("any size is shown: they are the other side's word", arguments: [Int64.max, 1 << 62, 1 << 60, 1, 0])
    func extremes(_ done: Int64) {
        for total in [nil, 0, 1, Int64.max] as [Int64?] {
            for elapsed in [Duration.zero, .milliseconds(201), .seconds(Int64.max)] {
                let line = ProgressLine(name: "a", done: done, total: total, elapsed: elapsed)
                #expect(line.text(columns: 79).count <= 79)
            }
        }
    }

    @Test("how far, how fast, how long")
    func half() {
        let line = ProgressLine(name: "photo.jpg", done: 50_000_000, total: 100_000_000, elapsed: .seconds(5))
        #expect(line.text(columns: 79) == "photo.jpg  [##########----------] 50%  10.0 MB/s  0:05")
    }

    @Test("without a total there is no bar; a long name keeps its end")
    func others() {
        #expect(
            ProgressLine(name: "x", done: 1500, total: nil, elapsed: .seconds(1)).text(columns: 79)
                == "x  1.5 kB  1.5 kB/s")
        let long = ProgressLine(name: String(repeating: "n", count: 100), done: 1, total: 2, elapsed: .zero)
        #expect(long.text(columns: 79).count <= 79)
    }

    @Test("totals that cannot be do no harm")
    func hostile() {
        for done in [0, 1, Int64.max] {
            let line = ProgressLine(name: "", done: done, total: .max, elapsed: .seconds(100_000_000))
            #expect(!line.text(columns: 10).isEmpty)
        }
    }
}
