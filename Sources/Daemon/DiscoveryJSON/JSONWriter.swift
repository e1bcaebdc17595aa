public import DNSSD
public import Discovery
import DiscoverySystem

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

    private mutating func number(_ value: Double) {
        separate()
        // Whole numbers without a fraction.
        bytes.append(contentsOf: (Int(exactly: value).map(String.init) ?? String(value)).utf8)
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

    /// Writes a key and `true` or `false`.
    package mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Writes a key and an object.
    package mutating func object(_ name: String, _ members: (inout JSONWriter) -> Void) {
        key(name)
        object(members)
    }

    /// Writes a key and an array, of which `write` writes each element.
    package mutating func array<Element>(
        _ name: String, of elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array { array in for element in elements { write(&array, element) } }
    }

    /// Writes a key and an array of strings.
    public mutating func member(_ name: String, _ values: some Sequence<String>) {
        key(name)
        array { array in
            for value in values { array.string(value) }
        }
    }
}

extension JSONWriter {
    /// Writes any value; a number that JSON cannot express (RFC 8259 §6) as `null`.
    public mutating func write(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let truth): bool(truth)
        case .integer(let whole): number(whole)
        case .double(let fraction): fraction.isFinite ? number(fraction) : null()
        case .string(let text): string(text)
        case .array(let values):
            array { array in
                for value in values { array.write(value) }
            }
        case .object(let members):
            object { object in
                for member in members {
                    object.key(member.key)
                    object.write(member.value)
                }
            }
        }
    }
}

extension JSONWriter {
    /// Writes where a publication stands as one line: `name` is the name now, `service.name` the wanted one.
    public mutating func publishedLine(
        _ service: OfferedService, name: ServiceName, state: String, reason: String? = nil
    ) {
        line("published") { $0.publishedMembers(service, name: name, state: state, reason: reason) }
    }

    /// Writes the members of that line.
    public mutating func publishedMembers(
        _ service: OfferedService, name: ServiceName, state: String = "established", reason: String? = nil
    ) {
        member("name", name.text)
        member("wanted", service.name.text)
        if !service.isAddressRecord { member("type", service.type.description) }
        member("domain", service.domain.text)
        if service.isAddressRecord, let host = service.host(as: name) {
            member("host", host.name.text)
            if host.isAlias { member("alias", true) }
            member("addresses", host.addresses.map(\.description))
        } else {
            member("port", Int(service.port.rawValue))
        }
        member("state", state)
        if let reason { member("reason", reason) }
    }

    /// Writes the member `service` of what happens to a service: which one it is.
    public mutating func service(_ instance: ServiceInstance) {
        key("service")
        self.instance(instance)
    }

    /// Writes which service it is.
    mutating func instance(_ instance: ServiceInstance) {
        object { object in
            object.member("name", instance.name.text)
            object.member("type", instance.type.text)
            object.member("domain", instance.domain.text)
        }
    }
}

extension JSONWriter {
    /// Writes how connecting went as one line: `connected`, or `failed` with the error's code and message.
    public mutating func establishmentLine(_ report: EstablishmentReport, error: DiscoveryError? = nil) {
        line(error == nil ? "connected" : "failed") { object in
            object.key("service")
            if let service = report.service { object.service(service, detail: .full) } else { object.null() }
            object.key("endpoint")
            if let winner = report.winner { object.endpoint(winner) } else { object.null() }
            object.member("milliseconds", report.duration.wholeMilliseconds)
            object.member("resolving", report.resolving?.wholeMilliseconds)
            object.member("source", report.source.rawValue)
            object.array("attempts", of: report.attempts) { $0.attempt($1) }
            if let error {
                object.member("code", error.code.description)
                object.member("reason", error.message)
            }
        }
    }

    private mutating func attempt(_ attempt: EstablishmentReport.Attempt) {
        object { object in
            object.key("endpoint")
            object.endpoint(attempt.endpoint)
            object.member("outcome", attempt.outcome.rawValue)
            object.member("start", attempt.start?.wholeMilliseconds)
            object.member("milliseconds", attempt.duration.wholeMilliseconds)
            object.key("reason")
            if let reason = attempt.reason { object.string(reason) } else { object.null() }
        }
    }
}

/// How the characters of a string are written in JSON.
enum JSONEscaping {
    private static let hexadecimal = Array("0123456789abcdef".utf8)

    /// Appends `text` without quotes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        // Nearly all text is plain.
        let isAppended = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard unsafe utf8.allSatisfy(isPlain) else { return false }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if isAppended != true { appendEscaped(text, to: &bytes) }
    }

    /// Printable ASCII that stands for itself in a string.
    private static func isPlain(_ byte: UInt8) -> Bool { 0x20..<0x7F ~= byte && byte != 0x22 && byte != 0x5C }

    private static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: bytes += [0x5C, UInt8(truncatingIfNeeded: scalar.value)]
            case 0x20..<0x7F: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case 0x08: bytes += [0x5C, 0x62]
            case 0x09: bytes += [0x5C, 0x74]
            case 0x0A: bytes += [0x5C, 0x6E]
            case 0x0C: bytes += [0x5C, 0x66]
            case 0x0D: bytes += [0x5C, 0x72]
            default:
                if isHidden(scalar) {
                    for unit in UTF16.encode(scalar) ?? .init() { appendEscape(unit, to: &bytes) }
                } else {
                    bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
                }
            }
        }
    }

    /// Whether a character must not reach a terminal as it is: controls (C0, DEL, C1), format characters (bidi controls,
    /// zero-width, tags), everything else that is not to be seen, and the line separators of Unicode.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isNoncharacterCodePoint
        }
    }

    private static func appendEscape(_ unit: UInt16, to bytes: inout [UInt8]) {
        bytes += [0x5C, 0x75]
        for shift in [12, 8, 4, 0] { bytes.append(hexadecimal[Int(unit >> shift) & 0xF]) }
    }
}
