public import DNSSD

/// Reads JSON as RFC 8259 has it and nothing more: UTF-8 only, no key twice, nothing after the value, bounded in depth.
///
/// It takes time and memory in proportion to the text, whose size the caller bounds.
public struct JSONReader {
    /// What is wrong with a text, and where.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Bytes before the fault.
        public let offset: Int
        /// What is wrong, beginning in lower case.
        public let reason: String
        /// `byte 7: …`
        public var description: String { "byte \(offset): \(reason)" }
    }

    /// How deep arrays and objects may be nested.
    public static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// Reads the one value that a text consists of.
    /// - Throws: `Failure`, with the byte at which the text breaks RFC 8259, nests deeper than `maximumDepth`, or goes on after the value.
    public static func read(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.failure("something follows the value") }
        return value
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ reason: String) -> Failure { Failure(offset: position, reason: reason) }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Failure) -> JSONValue {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try nested { reader throws(Failure) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(Failure) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some(let byte) where byte == UInt8(ascii: "-") || 0x30...0x39 ~= byte: return try number()
        case nil: throw failure("the text ends where a value must be")
        default: throw failure("no value begins like this")
        }
    }

    private mutating func nested(
        _ body: (inout JSONReader) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        guard depth < Self.maximumDepth else { throw failure("nested deeper than \(Self.maximumDepth)") }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func array() throws(Failure) -> JSONValue {
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(values) }
        while true {
            values.append(try value())
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw failure("neither , nor ] follows an element") }
        }
    }

    private mutating func object() throws(Failure) -> JSONValue {
        var members: [JSONValue.Member] = []
        // Only for objects that are large: comparing few keys is faster than hashing them.
        var keys: Set<String> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw failure("a key must be a string") }
            let key = try string()
            if members.count == 16 { keys = Set(members.map(\.key)) }
            let isKnown = members.count < 16 ? members.contains { $0.key == key } : !keys.insert(key).inserted
            guard !isKnown else { throw failure("a key is there twice") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw failure("no : follows a key") }
            members.append(JSONValue.Member(key, try value()))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw failure("neither , nor } follows a member") }
        }
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        for byte in text.utf8 where !take(byte) { throw failure("no value begins like this") }
        return value
    }

    private mutating func number() throws(Failure) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { throw failure("the number is too large") }
        return .double(number)
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let byte = current, 0x30...0x39 ~= byte { position += 1 }
        guard position > start else { throw failure("a digit is missing") }
    }
}

// MARK: Strings
extension JSONReader {
    private mutating func string() throws(Failure) -> String {
        position += 1
        let start = position
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(of: bytes[start..<position])
                position += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case ..<0x20: throw failure("a control character in a string is not escaped")
            default: position += 1
            }
        }
        throw failure("a string does not end")
    }

    /// From the first escape on.
    private mutating func escapedString(from start: Int) throws(Failure) -> String {
        var unescaped = Array(bytes[start..<position])
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(of: unescaped[...])
            case UInt8(ascii: "\\"): try escape(&unescaped)
            case ..<0x20: throw failure("a control character in a string is not escaped")
            default: unescaped.append(byte)
            }
        }
        throw failure("a string does not end")
    }

    private func text(of bytes: ArraySlice<UInt8>) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("a string is not UTF-8") }
        return text
    }

    private mutating func escape(_ bytes: inout [UInt8]) throws(Failure) {
        guard let byte = current else { throw failure("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes.append(contentsOf: String(try scalar()).utf8)
        default: throw failure("\\ is followed by what no escape has")
        }
    }

    /// What follows `\u`: four digits, or a pair of surrogates (RFC 8259 §7).
    private mutating func scalar() throws(Failure) -> Unicode.Scalar {
        let high = try unit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xD800...0xDBFF).contains(high), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw failure("half of a surrogate pair")
        }
        let low = try unit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw failure("half of a surrogate pair") }
        return scalar
    }

    private mutating func unit() throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            switch current {
            case .some(let byte) where 0x30...0x39 ~= byte: unit = unit << 4 | UInt32(byte - 0x30)
            case .some(let byte) where 0x61...0x66 ~= byte | 0x20: unit = unit << 4 | UInt32((byte | 0x20) - 0x57)
            default: throw failure("\\u needs four hexadecimal digits")
            }
            position += 1
        }
        return unit
    }
}

/// Lines of JSON, version 1 of docs/contract/json.md: one object a line, each with `"v":1` and `"event"`.
extension JSONWriter {
    /// Writes a line with an event; `members` writes what follows `event`.
    public mutating func line(_ event: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
        object { object in
            object.member("v", 1)
            object.member("event", event)
            members(&object)
        }
        endLine()
    }

    /// Writes what a browser tells as one line, or nothing: the coming of the backend is no event for a reader.
    /// - Parameters:
    ///   - event: what the browser tells.
    ///   - detail: how much of a service is written.
    ///   - keyState: what is known of the key that a service had last; nil for one that was not connected to.
    public mutating func line(
        _ event: ServiceEvent, detail: ServiceDetail, keyState: (ServiceInstance) -> String? = { _ in nil }
    ) {
        if case .backend(let state) = event { return line(state) }
        line(event) { object, service in
            object.key("service")
            object.service(service, detail: detail, keyState: keyState(service.instance))
        }
    }

    /// Writes an event as a line, as `ListEvent.init(_:value:)` reads it.
    /// - Parameters:
    ///   - event: what happened.
    ///   - cursor: where a reader of the daemon's `watch` goes on.
    ///   - members: writes what the line is about.
    package mutating func line<Value>(
        _ event: ListEvent<Value>, cursor: String? = nil, _ members: (inout JSONWriter, Value) -> Void
    ) {
        func line(_ name: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
            self.line(name) { object in
                members(&object)
                if let cursor { object.member("cursor", cursor) }
            }
        }
        switch event {
        case .found(let value): line("added") { members(&$0, value) }
        case .changed(let value): line("updated") { members(&$0, value) }
        case .lost(let value): line("removed") { members(&$0, value) }
        case .settled: line("settled")
        case .backend(let state): backendLine(state, cursor: cursor)
        case .degraded(let reason): line("degraded") { $0.member("reason", reason) }
        }
    }

    /// Writes that the backend went away or came back; nothing for its first coming.
    public mutating func line(_ state: BackendState) {
        switch state {
        case .available, .unavailable: break
        case .lost: line("backend") { $0.member("state", "lost") }
        case .recovered: line("backend") { $0.member("state", "recovered") }
        }
    }

    /// Writes that something was left out.
    public mutating func degradedLine(_ reason: String) {
        line("degraded") { $0.member("reason", reason) }
    }
}
