#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoverySystem
internal import Libc

/// Standard output: gathers lines and writes each batch with one `write`. For use by one task.
final class Output {
    /// No one reads any more: the pipe or terminal behind standard output is gone.
    struct Unread: Error {}

    private var bytes: [UInt8] = []
    private let version: JSONVersion
    /// The terminal shows only ASCII.
    private let isASCII: Bool
    /// Reused, for its buffer.
    private var writer = JSONWriter()
    /// Beyond this many bytes, lines are written at once: a slow reader must not make the buffer grow.
    private static let batchLimit = 64 * 1024

    /// - Parameter version: of lines of JSON.
    init(for terminal: Terminal, _ version: JSONVersion = .one) {
        self.version = version
        isASCII = !terminal.isUTF8
    }

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

    /// Adds whole lines as they are.
    func bytes(_ lines: some Collection<UInt8>) throws {
        bytes.append(contentsOf: lines)
        if bytes.count >= Self.batchLimit { try flush() }
    }

    /// Adds whole lines of JSON, version 1.
    func json(lines: some Collection<UInt8>) throws { try bytes(version.rendered(lines: lines)) }

    /// Adds a line of JSON that `body` writes in version 1.
    func json(_ subject: JSONVersion.Subject = .event, _ body: (inout JSONWriter) -> Void) throws {
        writer.removeAll()
        body(&writer)
        let line = version.rendered(writer.bytes, as: subject)
        try bytes(isASCII ? line.escapedAsJSON : line)
    }

    /// Writes what has been gathered.
    func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        guard try Self.write(bytes) else { throw Unread() }
    }

    /// Writes at once, for commands without a network. `print` would not say that the disk is full.
    /// - Returns: false where no one reads it any more.
    @discardableResult
    static func write(_ bytes: some Collection<UInt8>) throws(CommandError) -> Bool {
        switch Descriptor.write(bytes, to: STDOUT_FILENO) {
        case nil: return true
        case EPIPE, ECONNRESET: return false
        case .some(let code): throw CommandError(.ioError, "cannot write to standard output", errno: code)
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

/// One line of human output: fields aligned in columns on a terminal, separated by tabs otherwise.
struct Record {
    /// A field, and the width it is padded to on a terminal.
    struct Field {
        let text: String
        let width: Int
        let colour: Colour?

        /// Escapes the text: it cannot break the line or reach the terminal raw.
        init(_ text: String, _ width: Int, _ colour: Colour? = nil) {
            self.init(safe: text.escapedForTerminal, width, colour)
        }

        /// Text that is already safe for a terminal, as descriptions of DNS-SD values are.
        init(safe text: some CustomStringConvertible, _ width: Int, _ colour: Colour? = nil) {
            (self.text, self.width, self.colour) = (text.description, width, colour)
        }
    }

    var fields: [Field]

    init(_ fields: Field...) { self.fields = fields }

    /// The line without its end.
    func line(for terminal: Terminal) -> String {
        guard terminal.isInteractive else { return fields.map(\.text).joined(separator: "\t") }
        return aligned(isUTF8: terminal.isUTF8) { terminal.paint($0, $1) }
    }

    /// The lines: where a terminal is too narrow for one, the last fields go on below themselves.
    func lines(for terminal: Terminal) -> [String] {
        let whole = line(for: terminal)
        let columns = terminal.columns
        let isUTF8 = terminal.isUTF8
        guard terminal.isInteractive, DisplayWidth.of(aligned(isUTF8: isUTF8) { text, _ in text }) >= columns else {
            return [whole]
        }
        // Labels keep their columns as long as half of the width is left.
        var (head, indent, count) = ("", 0, 0)
        for field in fields.dropLast() {
            let text = field.text.tamed(isUTF8: isUTF8)
            let width = max(field.width, DisplayWidth.of(text)) + 2
            guard field.width > 0, indent + width <= columns / 2 else { break }
            head += field.colour.map { terminal.paint(text, $0) } ?? text
            head += String(repeating: " ", count: width - DisplayWidth.of(text))
            (indent, count) = (indent + width, count + 1)
        }
        let rest = fields.dropFirst(count).map { $0.text.tamed(isUTF8: isUTF8) }.filter { !$0.isEmpty }
        let below = String(repeating: " ", count: indent)
        let lines = rest.joined(separator: "  ").wrapped(to: columns - 1 - indent)
        return lines.enumerated().map { ($0.offset == 0 ? head : below) + $0.element }
    }

    /// The line as a terminal shows it, without colours.
    var aligned: String { aligned(isUTF8: true) { text, _ in text } }

    private func aligned(isUTF8: Bool, _ paint: (String, Colour) -> String) -> String {
        var line = ""
        for (position, field) in fields.enumerated() {
            let text = field.text.tamed(isUTF8: isUTF8)
            line += field.colour.map { paint(text, $0) } ?? text
            guard position < fields.count - 1 else { break }
            line += String(repeating: " ", count: max(field.width - DisplayWidth.of(text), 0) + 2)
        }
        return line
    }
}

/// What standard output can show.
struct Terminal: Sendable {
    /// Connected to a terminal: columns are aligned.
    let isInteractive: Bool
    /// Colours are wanted (https://no-color.org).
    let hasColour: Bool
    /// Can be drawn on.
    let movesCursor: Bool
    /// Shows more than ASCII.
    let isUTF8: Bool

    /// The current width; 80 if unknown.
    var columns: Int { TerminalText.columns(STDOUT_FILENO) ?? 80 }

    /// Standard output of this process.
    static func current() -> Terminal {
        let interactive = isatty(STDOUT_FILENO) == 1
        let isDumb = ["", "dumb"].contains(Environment.value("TERM") ?? "dumb")
        let isPlain = isDumb || Environment.value("NO_COLOR") != nil
        return Terminal(
            isInteractive: interactive, hasColour: interactive && !isPlain,
            movesCursor: interactive && !isDumb, isUTF8: !interactive || TerminalText.isUTF8())
    }
}

extension Terminal {
    /// The same for lines that are drawn on a screen, which have no colours in them.
    var onScreen: Terminal {
        Terminal(isInteractive: true, hasColour: false, movesCursor: movesCursor, isUTF8: isUTF8)
    }

    /// The same for lines that are not aligned.
    var asPipe: Terminal { Terminal(isInteractive: false, hasColour: false, movesCursor: false, isUTF8: isUTF8) }
}

typealias Colour = Style.Colour

extension Terminal {
    /// The text in a colour, if colours are wanted.
    func paint(_ text: String, _ colour: Colour) -> String {
        hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
#endif
