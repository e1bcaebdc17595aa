/// Writes JSON (RFC 8259) as UTF-8 bytes, members in the order in which they are given.
///
/// The text is safe on a terminal: what could move a cursor or hide itself is written as `\u001b`, which a JSON parser turns
/// back into the exact text. Why not an encoder of Foundation's: docs/decisions/0003-own-json-writer.md.
public struct JSONWriter: Sendable {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// An empty writer.
    public init() {}

    /// Writes behind what `bytes` has already; `body` begins a new value.
    public static func append(to bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        swap(&writer.bytes, &bytes)
        body(&writer)
        swap(&writer.bytes, &bytes)
    }

    /// Writes an object; `members` writes its keys and values.
    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        nested(open: "{", close: "}", members)
    }

    /// Writes an array; `elements` writes its values.
    public mutating func array(_ elements: (inout JSONWriter) -> Void) {
        nested(open: "[", close: "]", elements)
    }

    /// Writes a key; the next call writes its value.
    public mutating func key(_ name: String) {
        separate()
        appendQuoted(name)
        append(":")
        needsComma = false
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        separate()
        appendQuoted(value)
    }

    /// Writes a whole number.
    public mutating func number(_ value: Int) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes `null`.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Ends a line of JSON lines; the next value starts anew.
    public mutating func endLine() {
        append("\n")
        needsComma = false
    }

    /// Forgets what was written and keeps the memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    private mutating func nested(open: Unicode.Scalar, close: Unicode.Scalar, _ body: (inout JSONWriter) -> Void) {
        separate()
        append(open)
        needsComma = false
        body(&self)
        append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { append(",") }
        needsComma = true
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
    }

    private mutating func appendQuoted(_ text: String) {
        append("\"")
        JSONEscaping.append(text, to: &bytes)
        append("\"")
    }
}

extension JSONWriter {
    /// Writes a key and a string.
    public mutating func member(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    /// Writes a key and a whole number, or `null`.
    public mutating func member(_ name: String, _ value: Int?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    /// Writes a key and an array of strings.
    public mutating func member(_ name: String, _ values: some Sequence<String>) {
        key(name)
        array { array in
            for value in values { array.string(value) }
        }
    }
}
