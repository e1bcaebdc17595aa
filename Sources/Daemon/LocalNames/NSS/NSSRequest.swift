package import DNSMessage
package import DNSSD
package import MulticastEngine

/// A line that libnss-mdns writes, as getaddrinfo(3) and its like have it done.
///
/// `RESOLVE-HOSTNAME-IPV4 h1.local`, `RESOLVE-HOSTNAME-IPV6`, `RESOLVE-HOSTNAME` and `RESOLVE-ADDRESS 192.0.2.1` are all that it asks; `HELP` is
/// for people and `doctor`. What is asked beyond `local` and the links is answered here, and is asked of nobody.
package enum NSSRequest: Hashable, Sendable {
    /// One address of a host; of any family if it is nil.
    case host(DomainName, IPAddress.Family?)
    /// The name of an address.
    case address(IPAddress, DomainName)
    case help
    /// What has no answer, with what is wrong.
    case wrong(NSSFault)

    /// The longest line that is read, in bytes: a name of 255 bytes, each escaped, and its command.
    package static let longestLine = 1088

    /// Reads a line without its end.
    package init(_ line: some Collection<UInt8>) {
        let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        let command = words.first.map { String(decoding: $0, as: UTF8.self) }
        let argument = words.count == 2 ? words.last.map { String(decoding: $0, as: UTF8.self) } : nil
        switch (command, argument) {
        case ("RESOLVE-HOSTNAME-IPV4", let text?): self = Self.host(text, .ipv4)
        case ("RESOLVE-HOSTNAME-IPV6", let text?): self = Self.host(text, .ipv6)
        case ("RESOLVE-HOSTNAME", let text?): self = Self.host(text, nil)
        case ("RESOLVE-ADDRESS", let text?):
            guard let address = IPAddress(text), let name = DomainName(reverse: address.unmapped) else {
                self = .wrong(.invalidAddress)
                return
            }
            self = .address(address.unmapped, name)
        case ("HELP", nil) where words.count == 1: self = .help
        default: self = .wrong(.invalidOperation)
        }
    }

    private static func host(_ text: String, _ family: IPAddress.Family?) -> NSSRequest {
        guard let name = try? DomainName(presentation: text) else { return .wrong(.invalidHostName) }
        return name.isHostOfLink ? .host(name, family) : .wrong(.timeout)
    }
}

/// Why there is no answer: the numbers of libavahi-common (error.h), which libnss-mdns takes for "not found", whichever.
package enum NSSFault: Int, Sendable {
    case invalidHostName = -3
    case invalidAddress = -14
    case timeout = -15
    case invalidOperation = -21

    private var text: String {
        switch self {
        case .invalidHostName: "Invalid host name"
        case .invalidAddress: "Invalid address"
        case .timeout: "Timeout reached"
        case .invalidOperation: "Invalid operation: try HELP"
        }
    }

    package var line: String { "\(rawValue) \(text)\n" }
}

extension NSSRequest {
    /// The longest answer, in bytes with its end: libnss-mdns reads no more (0.15.1).
    private static let longestAnswer = 255
    /// What `HELP` is answered: `doctor` knows by it who answers.
    package static let greeting = "+ discoverd"

    /// What is asked of the links; nil where nothing is.
    package var question: (request: RecordRequest, wanted: RecordType)? {
        switch self {
        case .host(let name, let family): (.addresses(of: name), family == .ipv6 ? .aaaa : .a)
        case .address(_, let name): (RecordRequest(name, [.ptr]), .ptr)
        case .help, .wrong: nil
        }
    }

    /// The answer's line to what asks nothing of the links.
    package var ownAnswer: String {
        switch self {
        case .help: "\(Self.greeting): RESOLVE-HOSTNAME[-IPV4|-IPV6] NAME.local, RESOLVE-ADDRESS ADDRESS\n"
        case .wrong(let fault): fault.line
        case .host, .address: NSSFault.timeout.line
        }
    }

    /// The answer's line: the best address, or the name.
    package func line(_ records: [DeskRecord]) -> String {
        let found: String? =
            switch self {
            case .host(let name, let family):
                records.filter { family == nil || $0.record.type == (family == .ipv4 ? .a : .aaaa) }
                    .compactMap { item in
                        IPAddress(item.record.data, scope: 0).map { (address: $0, item: item) }
                    }
                    .min { Self.rank($0.address, $0.item) < Self.rank($1.address, $1.item) }
                    .map { "\(Self.place($0.item, $0.address.family)) \(name.presentation) \($0.address)" }
            case .address(let address, _):
                records.lazy.compactMap { item in
                    guard case .ptr(let name) = item.record.data, name.isHostOfLink else { return nil }
                    return "\(Self.place(item, address.family)) \(name.presentation)"
                }.first
            case .help, .wrong: nil
            }
        let line = found.map { "+ \($0)\n" }
        return line.flatMap { $0.utf8.count <= Self.longestAnswer ? $0 : nil } ?? NSSFault.timeout.line
    }

    /// The interface's index, and the family as libavahi-common counts it.
    private static func place(_ item: DeskRecord, _ family: IPAddress.Family) -> String {
        "\(item.interface.index) \(family == .ipv4 ? 0 : 1)"
    }

    /// Less is better: an address of this machine's networks, one of the link, any other; IPv4 first.
    private static func rank(_ address: IPAddress, _ item: DeskRecord) -> (Int, Int, UInt32) {
        let kind = address.isLinkLocal ? 1 : item.isNear ? 0 : 2
        return (address.family == .ipv4 ? 0 : 1, kind, item.interface.index)
    }
}
