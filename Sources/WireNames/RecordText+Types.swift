package import DNSMessage
internal import DNSSD

extension ResourceRecord {
    /// The data as in a zone file; of types without a form of their own here, and where it breaks its type's, `\# n hex` (RFC 3597 §5).
    /// Printable ASCII: safe for a terminal.
    package var dataText: String {
        guard case .other(let bytes) = data else { return data.text }
        var fields = DataFields(bytes)
        guard let text = fields.text(of: type), fields.isEmpty else { return data.text }
        return text
    }
}

/// The fields of data in wire form, as a zone file shows them. A value.
struct DataFields {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    /// Nil for other types, and where a field is missing.
    mutating func text(of type: RecordType) -> String? {
        switch type.description {
        // RFC 1035 §3.3.9, RFC 1183, RFC 2230
        case "MX", "AFSDB", "RT", "KX": Self.joined([number(2), name()])
        // RFC 1183 §2.2
        case "RP": Self.joined([name(), name()])
        // RFC 6672 §2.1
        case "DNAME": name()
        // RFC 4034 §5.1, RFC 7344
        case "DS", "CDS": Self.joined([number(2), number(1), number(1), hexadecimal()])
        // RFC 4034 §2.1
        case "DNSKEY", "CDNSKEY": Self.joined([number(2), number(1), number(1), base64()])
        // RFC 4255 §3.1
        case "SSHFP": Self.joined([number(1), number(1), hexadecimal()])
        // RFC 6698 §2.1, RFC 8162
        case "TLSA", "SMIMEA": Self.joined([number(1), number(1), number(1), hexadecimal()])
        // RFC 8659 §4.1
        case "CAA": Self.joined([number(1), tag(), quoted(rest.count)])
        // RFC 3403 §4.1
        case "NAPTR": Self.joined([number(2), number(2), string(), string(), string(), name()])
        // RFC 7553 §4.1
        case "URI": Self.joined([number(2), number(2), quoted(rest.count)])
        // RFC 7208 §3.1: as TXT
        case "SPF": strings()
        // RFC 4701 §3.2, RFC 7929 §2.3
        case "DHCID", "OPENPGPKEY": base64()
        // RFC 9460 §2.2
        case "SVCB", "HTTPS": Self.joined([number(2), name(), serviceParameters()])
        default: nil
        }
    }

    private static func joined(_ fields: [String?]) -> String? {
        let present = fields.compactMap { $0 }
        return present.count == fields.count ? present.filter { !$0.isEmpty }.joined(separator: " ") : nil
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Of one or two bytes.
    mutating func number(_ count: Int) -> String? {
        take(count).map { String($0.reduce(0) { $0 << 8 | UInt($1) }) }
    }

    mutating func name() -> String? {
        var labels: [ArraySlice<UInt8>] = []
        while let length = take(1)?.first {
            guard length > 0 else { return (try? DomainName(labels: labels))?.description }
            guard length <= DomainName.maximumLabelLength, let label = take(Int(length)) else { return nil }
            labels.append(label)
        }
        return nil
    }

    private mutating func hexadecimal() -> String? {
        guard let bytes = take(rest.count), !bytes.isEmpty else { return nil }
        return RecordData.hexadecimal(bytes)
    }

    mutating func base64() -> String? {
        guard let bytes = take(rest.count), !bytes.isEmpty else { return nil }
        return Base64.encode(Array(bytes))
    }

    private mutating func quoted(_ count: Int) -> String? { take(count).map { RecordData.quoted([Array($0)]) } }

    private mutating func string() -> String? { take(1)?.first.flatMap { quoted(Int($0)) } }

    private mutating func strings() -> String? {
        guard let bytes = take(rest.count), let strings = TextStrings.strings(of: bytes), !strings.isEmpty else {
            return nil
        }
        return RecordData.quoted(strings)
    }

    /// Letters and digits, without quotes.
    private mutating func tag() -> String? {
        guard let length = take(1)?.first, length > 0, let bytes = take(Int(length)) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) } ? text : nil
    }
}
