/// The name of a host, such as `h1.local`, as the target of an SRV record. It is a DNS name only: never use it as a
/// path or pass it to getaddrinfo.
public struct HostName: Sendable {
    /// The name in escaped presentation form, without a final dot; safe for a terminal.
    public let text: String

    init(unchecked text: String) { self.text = text }
}

extension HostName: Hashable {
    /// Compares without regard to ASCII case.
    public static func == (one: HostName, other: HostName) -> Bool {
        one.text.hasSameFoldedBytes(as: other.text)
    }

    /// Hashes without regard to ASCII case.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: text, foldingCase: true)
    }
}

extension HostName: CustomStringConvertible {
    /// The name in escaped presentation form: safe for a terminal, and accepted by `init(_:)`.
    public var description: String { text }
}

extension HostName {
    /// Reads `h1.local` or `h1.local.`; `\.` and `\DDD` stand for special bytes within a label.
    /// - Throws: `.invalidHostName` unless each label has 1 to 63 bytes and the name at most 255 (RFC 1035 §2.3.4), or
    ///   if a label contains control characters or non-characters.
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            self.init(unchecked: try DNSName(checked: text).presentation)
        } catch {
            throw DiscoveryError(.invalidHostName, text, error)
        }
    }

    /// Reads a host name that was seen on the network, in escaped form; nil if no DNS packet can have carried it.
    public init?(observed text: String) {
        guard let labels = DNSName.bytes(observed: text) else { return nil }
        self.init(labels: labels)
    }
}

extension HostName {
    /// The name as a DNS message has it, not compressed (RFC 1035 §3.1).
    package var wire: [UInt8] {
        let labels = (try? DNSName(presentation: text))?.labels ?? []
        return labels.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + $0.utf8 } + [0]
    }
}

extension HostName: Comparable {
    /// Orders by bytes, without regard to ASCII case.
    public static func < (one: HostName, other: HostName) -> Bool { one.text.precedesAsDNSLabel(other.text) }
}
