package import DNSMessage
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

    /// Whether the name stands for an address.
    package var isReverse: Bool {
        ["in-addr", "ip6"].contains { label in
            (try? DomainName(labels: [Array(label.utf8), Array("arpa".utf8)])).map { isWithin($0) } ?? false
        }
    }

    /// Whether multicast DNS is asked for the name: below `local`, or of an address.
    package var isAskedOnLink: Bool {
        (try? DomainName(labels: [Array("local".utf8)])).map { isWithin($0) } ?? false || isReverse
    }
}
