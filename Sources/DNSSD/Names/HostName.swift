/// The name of a host, as the target of an SRV record: `h1.local`. Only ever a DNS name: never a path, never for
/// getaddrinfo.
public struct HostName: Sendable {
    /// The name in escaped presentation form, without a final dot; safe for a terminal.
    public let name: String

    init(unchecked name: String) { self.name = name }
}

extension HostName: Hashable {
    /// Without regard to ASCII case.
    public static func == (one: HostName, other: HostName) -> Bool {
        one.name.hasSameFoldedBytes(as: other.name)
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: name, foldingCase: true)
    }
}

extension HostName: CustomStringConvertible {
    /// The name in escaped presentation form: safe for a terminal, and readable again.
    public var description: String { name }
}

extension HostName {
    /// Reads `h1.local` or `h1.local.`, with `\.` and `\DDD` for what a label cannot have plainly.
    /// - Throws: `.invalidHostName` unless it has labels of 1 to 63 bytes and 255 bytes in all (RFC 1035 §2.3.4).
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            self.init(unchecked: try DNSName(checked: text).presentation)
        } catch {
            throw DiscoveryError(.invalidHostName, text, error)
        }
    }

    /// A host seen on the network, in escaped form; nil when no DNS packet can have carried it.
    public init?(observed text: String) {
        guard let name = DNSName(observed: text) else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension HostName: Comparable {
    /// By bytes, without regard to ASCII case.
    public static func < (one: HostName, other: HostName) -> Bool { one.name.precedesAsDNSLabel(other.name) }
}
