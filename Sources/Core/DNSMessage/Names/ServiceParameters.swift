internal import DNSSD

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
