package import DNSSD

extension RecordData {
    /// The data as in a zone file (RFC 1035 §5.1), without a line's end; of an unknown type `\# n hex` (RFC 3597 §5).
    /// Printable ASCII: safe for a terminal.
    package var text: String {
        switch self {
        case .a, .aaaa: IPAddress(self, scope: 0).map(\.description) ?? ""
        case .ptr(let name), .cname(let name), .ns(let name): name.description
        case .srv(let priority, let weight, let port, let target): "\(priority) \(weight) \(port) \(target)"
        case .txt(let bytes): TextStrings.strings(of: bytes).map(Self.quoted) ?? Self.generic(bytes)
        case .hinfo(let cpu, let os): Self.quoted([cpu, os])
        case .nsec(let next, let types):
            ([next.description] + types.types.map(\.description)).joined(separator: " ")
        case .soa(let soa):
            "\(soa.primary) \(soa.mailbox) \(soa.serial) \(soa.refresh) \(soa.retry) \(soa.expire) \(soa.minimum)"
        case .tsig(let signature): "\(signature.algorithm) \(signature.time) \(signature.fudge) \(signature.error)"
        case .other(let bytes): Self.generic(bytes)
        }
    }

    static func quoted(_ strings: [[UInt8]]) -> String {
        strings.map { "\"" + $0.map(character).joined() + "\"" }.joined(separator: " ")
    }

    /// A byte within quotes.
    private static func character(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(Unicode.Scalar(byte))
        case 0x20...0x7E: String(Unicode.Scalar(byte))
        default: "\\" + String(String(1000 + Int(byte)).dropFirst())
        }
    }

    private static func generic(_ bytes: [UInt8]) -> String {
        "\\# \(bytes.count)" + (bytes.isEmpty ? "" : " " + hexadecimal(bytes))
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            String(byte >> 4, radix: 16, uppercase: true) + String(byte & 0xF, radix: 16, uppercase: true)
        }.joined()
    }
}

extension DomainName {
    /// The name whose PTR record names the host of an address (RFC 1035 §3.5, RFC 3596 §2.5).
    package init?(reverse address: IPAddress) {
        let labels: [String] =
            switch address {
            case .v4(let address): address.bytes.reversed().map { String($0) } + ["in-addr", "arpa"]
            case .v6(let address, _):
                address.bytes.reversed().flatMap { [String($0 & 0xF, radix: 16), String($0 >> 4, radix: 16)] }
                    + ["ip6", "arpa"]
            }
        guard let name = try? DomainName(labels: labels.map { Array($0.utf8) }) else { return nil }
        self = name
    }

    /// `local`.
    package static let ofLinks = try? DomainName(labels: [Array("local".utf8)])
    private static let ofAddresses = ["in-addr", "ip6"].compactMap { label in
        try? DomainName(labels: [Array(label.utf8), Array("arpa".utf8)])
    }

    /// Whether the name stands for an address.
    package var isReverse: Bool { Self.ofAddresses.contains { isWithin($0) } }

    /// Whether the name is `local`, or lies below it, at any depth.
    package var isOfLink: Bool { Self.ofLinks.map { isWithin($0) } ?? false }

    /// Whether multicast DNS is asked for the name: below `local`, or of an address.
    package var isAskedOnLink: Bool { isOfLink || isReverse }
}

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

extension DataFields {
    /// The parameters of a SVCB or HTTPS record, `key=value` each (RFC 9460 §2.1 and §7); empty without any. Nil where one breaks its form,
    /// or they are not in ascending order.
    mutating func serviceParameters() -> String? {
        var words: [String] = []
        var last = -1
        while !isEmpty {
            guard let key = take(2).map(Self.integer), key > last, let length = take(2).map(Self.integer),
                let bytes = take(length), let word = Self.parameter(key, Array(bytes))
            else { return nil }
            last = key
            words.append(word)
        }
        return words.joined(separator: " ")
    }

    /// IANA's registry "Service Parameter Keys (SvcParamKeys)".
    private static let keys: [Int: String] = [
        0: "mandatory", 1: "alpn", 2: "no-default-alpn", 3: "port", 4: "ipv4hint", 5: "ech", 6: "ipv6hint",
        7: "dohpath",
        8: "ohttp", 9: "tls-supported-groups", 10: "docpath",
    ]

    private static func name(of key: Int) -> String { keys[key] ?? "key\(key)" }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func parameter(_ key: Int, _ bytes: [UInt8]) -> String? {
        let name = name(of: key)
        guard key != 2, key != 8 else { return bytes.isEmpty ? name : nil }
        if bytes.isEmpty { return keys[key] == nil ? name : nil }
        switch key {
        case 0: return chunks(of: bytes, 2) { Self.name(of: integer($0)) }.map { "\(name)=\($0)" }
        case 1: return protocols(bytes).map { "\(name)=\(RecordData.quoted([$0]))" }
        case 3: return bytes.count == 2 ? "\(name)=\(integer(bytes[...]))" : nil
        case 4: return chunks(of: bytes, 4) { IPv4Address(bytes: $0)?.description }.map { "\(name)=\($0)" }
        case 5: return "\(name)=\(Base64.encode(bytes))"
        case 6: return chunks(of: bytes, 16) { IPv6Address(bytes: $0)?.description }.map { "\(name)=\($0)" }
        case 9: return chunks(of: bytes, 2) { "\(integer($0))" }.map { "\(name)=\($0)" }
        default: return "\(name)=\(RecordData.quoted([bytes]))"
        }
    }

    /// Values of one size each, as a list with commas.
    private static func chunks(
        of bytes: [UInt8], _ size: Int, _ text: (ArraySlice<UInt8>) -> String?
    ) -> String? {
        guard bytes.count.isMultiple(of: size) else { return nil }
        let parts = stride(from: 0, to: bytes.count, by: size).map { text(bytes[$0..<$0 + size]) }
        let present = parts.compactMap { $0 }
        return present.count == parts.count ? present.joined(separator: ",") : nil
    }

    /// Protocols with commas between them; a comma or backslash of one of them has a backslash (RFC 9460, Appendix A.1).
    private static func protocols(_ bytes: [UInt8]) -> [UInt8]? {
        guard let all = TextStrings.strings(of: bytes[...]), all.allSatisfy({ !$0.isEmpty }) else { return nil }
        let escaped = all.map { one in
            one.flatMap { [UInt8(ascii: ","), UInt8(ascii: "\\")].contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
        }
        return Array(escaped.joined(separator: [UInt8(ascii: ",")]))
    }
}
