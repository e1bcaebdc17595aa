/// Reads one HTTP/1.1 response (RFC 9112) as bytes arrive: by length, in chunks, or until the connection closes.
///
/// Bounded: the head takes at most 16 KiB, and only the part of the body that was not taken yet is kept.
public struct HTTPResponseReader: Sendable {
    /// A response that breaks RFC 9112 or exceeds a bound.
    public struct Failure: Error, Hashable, Sendable {
        /// What is wrong.
        public let reason: String
    }

    private enum Part: Hashable {
        case head
        case body(left: Int)
        case toTheEnd
        case chunkSize
        case chunk(left: Int)
        /// The line end after a chunk.
        case chunkEnd
        case trailer
        case done
    }

    /// The header fields that matter here; the last one wins.
    private struct Fields {
        var transferEncoding: String?
        var contentLength: String?

        mutating func read(_ line: String) {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { return }
            let value = String(pair[1].drop { $0 == " " || $0 == "\t" })
            switch pair[0].lowercased() {
            case "transfer-encoding": transferEncoding = value
            case "content-length": contentLength = value
            default: break
            }
        }
    }

    private static let maximumHead = 16 * 1024

    /// The status; nil until the head is complete.
    public private(set) var status: Int?
    private var part = Part.head
    private var pending: [UInt8] = []
    private var body: [UInt8] = []

    /// Creates a reader.
    public init() {}

    /// The response is complete.
    public var isDone: Bool { part == .done }

    /// Takes the part of the body received since the last call.
    public mutating func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Consumes received bytes.
    public mutating func received(_ bytes: some Sequence<UInt8>) throws(Failure) {
        pending.append(contentsOf: bytes)
        var rest = pending[...]
        while try advance(&rest) {}
        pending = Array(rest)
    }

    /// The connection was closed.
    /// - Throws: if the response is incomplete.
    public mutating func ended() throws(Failure) {
        guard part == .toTheEnd || part == .done else { throw Failure(reason: "the answer ends too early") }
        part = .done
    }

    /// - Returns: whether it made progress and may be called again.
    private mutating func advance(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> Bool {
        switch part {
        case .head: return try head(&rest)
        case .body(let left): return take(left, &rest) { $0 == 0 ? .done : .body(left: $0) }
        case .chunk(let left): return take(left, &rest) { $0 == 0 ? .chunkEnd : .chunk(left: $0) }
        case .toTheEnd: return take(.max, &rest) { _ in .toTheEnd }
        case .chunkSize:
            guard let line = try Self.takeLine(&rest) else { return false }
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            let text = String(decoding: digits, as: UTF8.self)
            guard let size = Int(text, radix: 16), (0...0x4000_0000).contains(size) else {
                throw Failure(reason: "the size of a chunk is no number")
            }
            part = size == 0 ? .trailer : .chunk(left: size)
            return true
        case .chunkEnd:
            guard let line = try Self.takeLine(&rest) else { return false }
            guard line.isEmpty else { throw Failure(reason: "a chunk is longer than it says") }
            part = .chunkSize
            return true
        case .trailer:
            guard let line = try Self.takeLine(&rest) else { return false }
            if line.isEmpty { part = .done }
            return true
        case .done:
            rest = []
            return false
        }
    }

    private mutating func take(_ left: Int, _ rest: inout ArraySlice<UInt8>, _ next: (Int) -> Part) -> Bool {
        let taken = rest.prefix(left)
        body.append(contentsOf: taken)
        rest = rest.dropFirst(taken.count)
        part = next(left - taken.count)
        return !taken.isEmpty
    }

    private mutating func head(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> Bool {
        var lines = rest
        var fields = Fields()
        var statusLine: String?
        while let line = try Self.takeLine(&lines) {
            let text = String(decoding: line, as: UTF8.self)
            guard statusLine != nil else {
                statusLine = text
                continue
            }
            guard line.isEmpty else {
                fields.read(text)
                continue
            }
            rest = lines
            try begin(statusLine ?? "", fields)
            return true
        }
        guard rest.count <= Self.maximumHead else { throw Failure(reason: "the head of the answer is too long") }
        return false
    }

    private mutating func begin(_ statusLine: String, _ fields: Fields) throws(Failure) {
        let words = statusLine.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), 100...599 ~= status else {
            throw Failure(reason: "this is not HTTP")
        }
        // An interim response (RFC 9110 §15.2): another follows.
        if status < 200 { return }
        self.status = status
        if status == 204 || status == 304 {
            part = .done
        } else if fields.transferEncoding?.lowercased() == "chunked" {
            part = .chunkSize
        } else if let text = fields.contentLength {
            guard let length = Int(text), length >= 0 else { throw Failure(reason: "the length is no number") }
            part = length == 0 ? .done : .body(left: length)
        } else {
            part = .toTheEnd
        }
    }

    private static func takeLine(_ rest: inout ArraySlice<UInt8>) throws(Failure) -> ArraySlice<UInt8>? {
        guard let end = rest.firstIndex(of: 0x0A) else {
            guard rest.count <= maximumHead else { throw Failure(reason: "a line of the answer is too long") }
            return nil
        }
        var line = rest[rest.startIndex..<end]
        if line.last == 0x0D { line = line.dropLast() }
        rest = rest[(end + 1)...]
        return line
    }
}
