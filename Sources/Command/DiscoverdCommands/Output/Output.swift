#if Commands
internal import CommandFrame
internal import CommandText
internal import DiscoveryJSON
internal import Libc

/// Standard output: gathers lines and writes each batch with one `write`. For use by one task.
final class Output {
    /// No one reads any more: the pipe or terminal behind standard output is gone.
    struct Unread: Error {}

    private var bytes: [UInt8] = []
    /// The terminal shows only ASCII.
    private let isASCII: Bool
    /// Reused, for its buffer.
    private var writer = JSONWriter()
    /// Beyond this many bytes, lines are written at once: a slow reader must not make the buffer grow.
    private static let batchLimit = 64 * 1024

    init(for terminal: Terminal) { isASCII = !terminal.isUTF8 }

    /// Adds a line of text.
    func line(_ text: String) throws {
        let text = isASCII ? text.tamed(isUTF8: false) : text
        bytes.append(contentsOf: text.utf8)
        bytes.append(0x0A)
        if bytes.count >= Self.batchLimit { try flush() }
    }

    /// Adds lines that came (+) or went (-).
    func changes(_ changes: [LineChanges.Change]) throws {
        for change in changes { try line("\(change.isNew ? "+" : "-")\t\(change.line)") }
    }

    /// Adds whole lines.
    func bytes(_ lines: some Collection<UInt8>) throws {
        bytes.append(contentsOf: lines)
        if bytes.count >= Self.batchLimit { try flush() }
    }

    /// Adds a line of JSON that `body` writes.
    func json(_ body: (inout JSONWriter) -> Void) throws {
        writer.removeAll()
        body(&writer)
        bytes.append(contentsOf: isASCII ? writer.bytes.escapedAsJSON : writer.bytes)
        if bytes.count >= Self.batchLimit { try flush() }
    }

    /// Writes what has been gathered.
    func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        switch Descriptor.write(bytes, to: STDOUT_FILENO) {
        case nil: return
        case EPIPE, ECONNRESET: throw Unread()
        case .some(let code):
            throw CommandError(.ioError, "cannot write to standard output: \(systemMessage(code))")
        }
    }
}

extension [UInt8] {
    /// JSON with every non-ASCII character as `\u00E9` (RFC 8259 §7).
    fileprivate var escapedAsJSON: [UInt8] {
        guard contains(where: { $0 >= 0x80 }) else { return self }
        var text = ""
        for unit in String(decoding: self, as: UTF8.self).utf16 {
            if unit < 0x80, let scalar = Unicode.Scalar(unit) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return Array(text.utf8)
    }
}
#endif
