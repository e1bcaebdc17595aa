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
