#if Commands
internal import DNSSD

/// Reads a document from its beginning to its end.
struct XMLReader {
    private let bytes: [UInt8]
    private var place = 0
    private var line = 1

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func document() throws(XMLElement.Fault) -> XMLElement {
        _ = skip("\u{FEFF}")
        try skipMisc(isProlog: true)
        guard peek == UInt8(ascii: "<") else { throw fault("no element") }
        let root = try element(depth: 1)
        try skipMisc(isProlog: false)
        guard place == bytes.count else { throw fault("something follows the end") }
        return root
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func fault(_ reason: String) -> XMLElement.Fault { XMLElement.Fault(line: line, reason: reason) }

    private mutating func advance(_ count: Int = 1) {
        for byte in bytes[place..<min(place + count, bytes.count)] where byte == UInt8(ascii: "\n") { line += 1 }
        place = min(place + count, bytes.count)
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[place...].starts(with: text.utf8) else { return false }
        advance(text.utf8.count)
        return true
    }

    private mutating func skipSpace() -> Bool {
        let before = place
        while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
        return place > before
    }

    /// The text before an end mark, which is skipped as well.
    private mutating func text(until end: String, of what: String) throws(XMLElement.Fault) -> String {
        let start = place
        let begin = line
        while place < bytes.count {
            let stop = place
            if skip(end) { return String(decoding: bytes[start..<stop], as: UTF8.self) }
            advance()
        }
        throw XMLElement.Fault(line: begin, reason: "\(what) does not end")
    }

    /// Comments, and before the document its declaration and the name of its type.
    private mutating func skipMisc(isProlog: Bool) throws(XMLElement.Fault) {
        while true {
            if skipSpace() { continue }
            if skip("<!--") {
                _ = try text(until: "-->", of: "a comment")
            } else if isProlog, skip("<?") {
                let declaration = try text(until: "?>", of: "a declaration").lowercased()
                if declaration.contains("encoding"), !declaration.contains("utf-8") {
                    throw fault("it must be in UTF-8")
                }
            } else if isProlog, skip("<!DOCTYPE") {
                if try text(until: ">", of: "the type").contains("[") {
                    throw fault("it declares entities or others of its own")
                }
            } else {
                return
            }
        }
    }

    private mutating func element(depth: Int) throws(XMLElement.Fault) -> XMLElement {
        guard depth <= XMLElement.deepest else { throw fault("more than \(XMLElement.deepest) elements in each other") }
        let begin = line
        advance()
        var element = XMLElement(try name(), line: begin)
        while true {
            let isApart = skipSpace()
            if skip("/>") { return element }
            if skip(">") { break }
            guard isApart else { throw fault("the element \(element.name.quotedForMessage) is not written right") }
            let (key, value) = try attribute()
            guard element.attributes.updateValue(value, forKey: key) == nil else {
                throw fault("the attribute \(key.quotedForMessage) is there twice")
            }
        }
        try content(of: &element, depth: depth)
        return element
    }

    private mutating func content(of element: inout XMLElement, depth: Int) throws(XMLElement.Fault) {
        while peek != nil {
            element.text += try characters { $0 == UInt8(ascii: "<") }
            if skip("<!--") {
                _ = try text(until: "-->", of: "a comment")
            } else if skip("</") {
                guard try name() == element.name else {
                    throw fault("the element \(element.name.quotedForMessage) of line \(element.line) does not end")
                }
                _ = skipSpace()
                guard skip(">") else { throw fault("an end is not written right") }
                return
            } else if peek != nil {
                element.children.append(try self.element(depth: depth + 1))
            }
        }
        throw XMLElement.Fault(
            line: element.line, reason: "the element \(element.name.quotedForMessage) does not end")
    }

    private mutating func attribute() throws(XMLElement.Fault) -> (String, String) {
        let key = try name()
        _ = skipSpace()
        guard skip("=") else { throw fault("the attribute \(key.quotedForMessage) has no value") }
        _ = skipSpace()
        guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault("the value of \(key.quotedForMessage) has no quotes")
        }
        advance()
        let value = try characters { $0 == quote || $0 == UInt8(ascii: "<") }
        guard peek == quote else { throw fault("the value of \(key.quotedForMessage) does not end") }
        advance()
        return (key, value)
    }

    /// What comes before a byte that ends it, with what references stand for.
    private mutating func characters(until isEnd: (UInt8) -> Bool) throws(XMLElement.Fault) -> String {
        var bytes: [UInt8] = []
        while let byte = peek, !isEnd(byte) {
            if byte == UInt8(ascii: "&") {
                bytes += try reference().utf8
            } else {
                bytes.append(byte)
                advance()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Letters, digits and `-_.:`, the first no digit, hyphen or dot: what is used, of what XML has.
    private mutating func name() throws(XMLElement.Fault) -> String {
        let start = place
        while let byte = peek, (place == start ? Self.nameStart : Self.nameRest).contains(byte) { advance() }
        guard place > start else { throw fault("a name is missing, or has characters that are not read") }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private static let nameStart = Set("_:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    private static let nameRest = nameStart.union("-.0123456789".utf8)
    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// `&amp;` and the other four, `&#65;`, `&#x41;`.
    private mutating func reference() throws(XMLElement.Fault) -> String {
        advance()
        let begin = place
        while let byte = peek, byte != UInt8(ascii: ";"), place - begin < 16 { advance() }
        let name = String(decoding: bytes[begin..<place], as: UTF8.self)
        guard skip(";") else { throw fault("an & that is not written &amp;") }
        if let text = Self.entities[name] { return text }
        let isHex = name.hasPrefix("#x")
        guard name.hasPrefix("#"), let number = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10),
            let scalar = Unicode.Scalar(number), number >= 0x20 || [0x09, 0x0A, 0x0D].contains(number)
        else { throw fault("the entity \(name.quotedForMessage) is not read") }
        return String(Character(scalar))
    }
}

/// An element of a small XML document. A value.
///
/// Of XML 1.0 it has what configuration files use: elements, attributes, text, comments, and the references that need no declaration. What else a
/// document may have, above all entities of its own, is an error (decision 0052).
struct XMLElement: Hashable, Sendable {
    /// What is wrong with a document.
    struct Fault: Error, Hashable, Sendable {
        /// Counts from 1.
        let line: Int
        /// For people.
        let reason: String
    }

    /// The largest document, in bytes.
    static let largest = 64 * 1024
    /// How deep elements may be in each other.
    static let deepest = 8

    /// The name.
    let name: String
    /// Where it begins; counts from 1.
    let line: Int
    /// The attributes.
    var attributes: [String: String] = [:]
    /// The elements in it.
    var children: [XMLElement] = []
    /// The text in it, without that of other elements.
    var text = ""

    init(_ name: String, line: Int) {
        self.name = name
        self.line = line
    }

    /// Reads a document in UTF-8.
    init(document bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= Self.largest else {
            throw Fault(line: 1, reason: "larger than \(Self.largest / 1024) KiB")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault(line: 1, reason: "not UTF-8") }
        var reader = XMLReader(text)
        self = try reader.document()
    }
}
#endif
