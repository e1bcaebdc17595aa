/// The labels of a DNS name, and their presentation: `.` and `\` follow a backslash, and bytes that are unsafe to show
/// become `\DDD` (RFC 1035 §5.1, RFC 6763 §4.3). Avahi reads and writes the same form, but escapes more than needed.
package struct DNSName: Hashable {
    /// The longest label in bytes (RFC 1035 §2.3.4).
    static let maximumLabelLength = 63
    /// The longest name in bytes on the wire, with its length bytes (RFC 1035 §2.3.4).
    static let maximumLength = 255
    /// The longest text that is read, in bytes: enough for three labels and a domain with each byte as `\DDD`.
    static let maximumTextLength = 2048

    /// The labels, unescaped, each of 1 to 63 bytes; at least one.
    let labels: [String]

    /// Reads a name's presentation, with or without a final dot.
    init(presentation text: String) throws(BrokenRule) {
        guard text.utf8.count <= Self.maximumTextLength else {
            throw BrokenRule("longer than a DNS name can be (RFC 1035 §2.3.4)")
        }
        var labels: [String] = []
        var rest = Array(text.utf8)[...]
        repeat {
            let label = try Self.takeLabel(from: &rest)
            if label.isEmpty { throw BrokenRule("\(text.isEmpty ? "the name" : "a label") is empty (RFC 1035 §3.1)") }
            labels.append(label)
        } while !rest.isEmpty
        self.labels = labels
    }

    /// The length in bytes on the wire, including length bytes and the root.
    var wireLength: Int { labels.reduce(1) { $0 + $1.utf8.count + 1 } }

    /// The name's presentation, without a final dot; safe for a terminal.
    var presentation: String { labels.map(Self.escape).joined(separator: ".") }

    /// Returns the presentation of one label; safe for a terminal.
    static func escape(_ label: String) -> String {
        let isPlain = { (byte: UInt8) in 0x20...0x7E ~= byte && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\")
        }
        guard !label.utf8.allSatisfy(isPlain) else { return label }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in label.unicodeScalars {
            defer { previous = scalar }
            if scalar == "." || scalar == "\\" {
                result.append("\\")
                result.append(scalar)
            } else if scalar.isUnsafeForTerminal(after: previous) {
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    let digits = String(byte)
                    result.append(
                        contentsOf: ("\\" + String(repeating: "0", count: 3 - digits.count) + digits).unicodeScalars)
                }
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the presentation of a label that is not UTF-8.
    static func escape(bytes label: some Collection<UInt8>) -> String {
        label.map { byte in
            guard byte < 0x80 else { return "\\\(byte)" }
            return escape(String(UnicodeScalar(byte)))
        }.joined()
    }

    /// Takes one label, and the dot that ends it.
    private static func takeLabel(from rest: inout ArraySlice<UInt8>) throws(BrokenRule) -> String {
        guard let label = String(validating: try takeBytes(from: &rest), as: UTF8.self) else {
            throw BrokenRule("a label is not UTF-8 (RFC 6762 §16)")
        }
        return label
    }

    private static func takeBytes(from rest: inout ArraySlice<UInt8>) throws(BrokenRule) -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: ".") {
            bytes.append(byte == UInt8(ascii: "\\") ? try takeEscape(from: &rest) : byte)
        }
        guard bytes.count <= maximumLabelLength else {
            throw BrokenRule(
                "a label has \(bytes.count) bytes, at most \(maximumLabelLength) are allowed (RFC 1035 §2.3.4)")
        }
        return bytes
    }

    /// The labels of a name, which need not be UTF-8, from its presentation with or without a final dot; nil if no packet can carry it.
    package static func bytes(observed text: String) -> [[UInt8]]? {
        guard text.utf8.count <= maximumTextLength else { return nil }
        var labels: [[UInt8]] = []
        var rest = Array(text.utf8)[...]
        repeat {
            guard let label = try? takeBytes(from: &rest), !label.isEmpty else { return nil }
            labels.append(label)
        } while !rest.isEmpty
        return labels.reduce(1) { $0 + $1.count + 1 } <= maximumLength ? labels : nil
    }

    /// Takes the rest of an escape, after its backslash: three digits for a byte, or any other byte for itself.
    private static func takeEscape(from rest: inout ArraySlice<UInt8>) throws(BrokenRule) -> UInt8 {
        guard let first = rest.first else { throw BrokenRule("nothing follows the last backslash (RFC 1035 §5.1)") }
        guard first.isASCIIDigit else {
            rest.removeFirst()
            return first
        }
        let digits = rest.prefix(3)
        rest = rest.dropFirst(3)
        guard digits.count == 3, digits.allSatisfy(\.isASCIIDigit),
            let byte = UInt8(exactly: digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        else { throw BrokenRule("a backslash and a digit begin a number from 000 to 255 (RFC 1035 §5.1)") }
        return byte
    }
}

extension DNSName {
    /// Reads a name that a person gave for a `Domain` or `HostName`.
    init(checked text: String) throws(BrokenRule) {
        try self.init(presentation: text)
        guard wireLength <= Self.maximumLength else {
            throw BrokenRule("\(wireLength) bytes, at most \(Self.maximumLength) are allowed (RFC 1035 §2.3.4)")
        }
        for label in labels { try label.checkPublishable() }
    }

    /// Reads a name that was seen on the network; nil if no packet can have carried it.
    init?(observed text: String) {
        guard let name = try? DNSName(presentation: text), name.wireLength <= Self.maximumLength else { return nil }
        self = name
    }
}

extension String {
    /// Refuses control characters, which names must not contain (RFC 6763 §4.1.1), and non-characters, which Avahi does
    /// not accept as UTF-8.
    func checkPublishable() throws(BrokenRule) {
        for scalar in unicodeScalars {
            let shown = String(scalar).escapedForTerminal
            if scalar.value < 0x20 || scalar.value == 0x7F {
                throw BrokenRule("the control character \(shown) is not allowed (RFC 6763 §4.1.1)")
            }
            if scalar.properties.isNoncharacterCodePoint {
                throw BrokenRule("\(shown) is not a character (RFC 5198 §2)")
            }
        }
    }
}

// Converts names from and to the labels of a DNS message. DNS-SD names are UTF-8 (RFC 6763 §4.1.1).

extension DNSName {
    init?(labels: some Sequence<some Collection<UInt8>>) {
        var texts: [String] = []
        for label in labels {
            guard !label.isEmpty, let text = String(validating: label, as: UTF8.self) else { return nil }
            texts.append(text)
        }
        self.init(labels: texts)
    }

    private init(labels: [String]) { self.labels = labels }

    /// Returns the labels of a presentation that has been checked before.
    fileprivate static func labels(of presentation: String) -> [[UInt8]] {
        (try? DNSName(presentation: presentation).labels.map { Array($0.utf8) }) ?? []
    }
}

extension Domain {
    /// The labels in order, without the root's.
    package var labels: [[UInt8]] { DNSName.labels(of: text) }

    /// Creates a domain from its labels; nil if one is not UTF-8 or there are none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels), !name.labels.isEmpty else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension HostName {
    /// Creates a host name from its labels; bytes that are not UTF-8 are escaped. Nil if a label is empty or there are none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        var texts: [String] = []
        for label in labels {
            guard !label.isEmpty else { return nil }
            texts.append(String(validating: label, as: UTF8.self).map(DNSName.escape) ?? DNSName.escape(bytes: label))
        }
        guard !texts.isEmpty else { return nil }
        self.init(unchecked: texts.joined(separator: "."))
    }
}

extension ServiceName {
    /// Creates a name from its label; nil if it is empty or not UTF-8.
    package init?(label: some Collection<UInt8>) {
        guard !label.isEmpty, let text = String(validating: label, as: UTF8.self) else { return nil }
        self.init(observed: text)
    }
}

extension ServiceType {
    /// The labels in order: those of `_witap._tcp`, or of `_sub1._sub._witap._tcp` with a subtype.
    package var labels: [[UInt8]] {
        (subtype.map { [Array($0.utf8), Array("_sub".utf8)] } ?? [])
            + [Array(name.utf8), Array(transport.rawValue.utf8)]
    }

    /// Creates a type from its labels; nil if they do not form a type.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels) else { return nil }
        self.init(observedLabels: name.labels[...])
    }
}
