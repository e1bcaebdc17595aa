public import DNSSD
public import DiscoveryJSON

extension DiscoveredService {
    /// The columns of `discoverd browse`, each safe for a terminal and without tabs.
    public func textFields(_ detail: ServiceDetail) -> [String] {
        var fields = [
            instance.name.description, instance.type.description, instance.domain.description,
            interfaces.map(\.name).joined(separator: ",").escapedForTerminal,
        ]
        guard detail == .full else { return fields }
        fields.append(host?.description ?? "")
        fields.append(port?.description ?? "")
        fields.append(addressTexts.joined(separator: ",").escapedForTerminal)
        fields.append(txt.readable.escapedForTerminal)
        return fields
    }

    /// The addresses, each once, in the order of the endpoints.
    public var addressTexts: [String] {
        var texts: [String] = []
        for endpoint in endpoints where !texts.contains(endpoint.addressText) { texts.append(endpoint.addressText) }
        return texts
    }
}

extension TXTRecord {
    /// The strings as quoted text: `"path=/x" "flag"`; a quote, a backslash and bytes that are not UTF-8 are escaped.
    public var readable: String { entries.map(\.readable).joined(separator: " ") }
}

extension TXTRecord.Entry {
    /// The string as quoted text.
    public var readable: String {
        guard let value else { return "\"\(Self.quote(key))\"" }
        return "\"\(Self.quote(key))=\(text.map(Self.quote) ?? Self.quoteBytes(value))\""
    }

    private static func quote(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted
    }

    private static func quoteBytes(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
                ? String(Unicode.Scalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + digits
        }.joined()
    }
}
