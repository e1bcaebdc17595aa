/// A DNS domain in which services are found: `local` for mDNS (RFC 6762 §3).
public struct Domain: Sendable {
    /// The name in escaped presentation form, without a final dot; safe for a terminal.
    public let name: String

    /// The domain of mDNS.
    public static let local = Domain(unchecked: "local")

    init(unchecked name: String) { self.name = name }
}

extension Domain {
    /// Whether this is `other` or below it: `lab.example.org` is within `example.org`.
    public func isWithin(_ other: Domain) -> Bool {
        if self == other { return true }
        let (mine, theirs) = (Array(name.utf8), Array(other.name.utf8))
        guard mine.count > theirs.count, mine[mine.count - theirs.count - 1] == UInt8(ascii: ".") else { return false }
        let before = mine.dropLast(theirs.count + 1)
        // An escaped dot ends no label.
        let backslashes = before.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        guard backslashes.isMultiple(of: 2) else { return false }
        return String(decoding: mine.suffix(theirs.count), as: UTF8.self).hasSameFoldedBytes(as: other.name)
    }
}

extension Domain: Hashable {
    /// Without regard to ASCII case.
    public static func == (one: Domain, other: Domain) -> Bool {
        one.name.hasSameFoldedBytes(as: other.name)
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: name, foldingCase: true)
    }
}

extension Domain: CustomStringConvertible {
    /// The name in escaped presentation form: safe for a terminal, and readable again.
    public var description: String { name }
}

extension Domain {
    /// Reads `local`, `local.` or `example.org`, with `\.` and `\DDD` for what a label cannot have plainly.
    /// - Throws: `.invalidDomain` unless it has labels of 1 to 63 bytes and 255 bytes in all (RFC 1035 §2.3.4).
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            self.init(unchecked: try DNSName(checked: text).presentation)
        } catch {
            throw DiscoveryError(.invalidDomain, text, error)
        }
    }

    /// A domain seen on the network, in escaped form; nil when no DNS packet can have carried it.
    public init?(observed text: String) {
        guard let name = DNSName(observed: text) else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension Domain: Comparable {
    /// By bytes, without regard to ASCII case.
    public static func < (one: Domain, other: Domain) -> Bool { one.name.precedesAsDNSLabel(other.name) }
}
