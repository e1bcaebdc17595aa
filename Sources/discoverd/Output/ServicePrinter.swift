internal import DNSSD
internal import DiscoveryJSON

/// How services are shown: JSON lines, or one record a line for people.
struct ServicePrinter {
    let session: Session
    let detail: ServiceDetail

    /// A service was found, changed or lost; or everything known at the start has been told.
    func show(_ event: ServiceEvent) throws {
        if session.json { return try session.output.json { $0.line(event, detail: detail) } }
        switch event {
        case .found(let service): try line("+", .green, service)
        case .changed(let service): try line("~", .yellow, service)
        case .lost(let service): try line("-", .red, service)
        case .settled, .backend, .degraded: break
        }
    }

    /// A service alone, without anything having happened to it.
    func show(_ service: DiscoveredService) throws {
        if session.json {
            try session.output.json { json in
                json.service(service, detail: detail)
                json.endLine()
            }
        } else {
            try line(nil, nil, service)
        }
    }

    private func line(_ sign: String?, _ colour: Colour?, _ service: DiscoveredService) throws {
        var record = Record()
        if let sign { record.add(sign, width: 1, colour: colour) }
        record.add(safe: service.instance.name, width: 24)
        record.add(safe: service.instance.type, width: 16)
        record.add(safe: service.instance.domain, width: 5)
        record.add(service.interfaces.map(\.name).joined(separator: ","), width: 8)
        if detail == .full {
            record.add(safe: service.host?.description ?? "", width: 16)
            record.add(service.port?.description ?? "", width: 5)
            record.add(service.addressTexts.joined(separator: ","), width: 24)
            record.add(service.txt.readable, width: 0)
        }
        try session.output.line(record.line(for: session.terminal))
    }
}

extension DiscoveredService {
    /// The addresses, each once, in the order of the endpoints.
    var addressTexts: [String] {
        var texts: [String] = []
        for endpoint in endpoints where !texts.contains(endpoint.addressText) { texts.append(endpoint.addressText) }
        return texts
    }
}

extension TXTRecord {
    /// The strings as quoted text: `"path=/x" "flag"`; a quote, a backslash and bytes that are not UTF-8 are escaped.
    var readable: String { entries.map(\.readable).joined(separator: " ") }
}

extension TXTRecord.Entry {
    /// The string as quoted text.
    var readable: String {
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
