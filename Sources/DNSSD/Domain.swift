/// A DNS domain in which services are found: `local` for mDNS (RFC 6762 §3).
public struct Domain: Sendable {
    /// The name in escaped presentation form, without a final dot; safe for a terminal.
    public let name: String

    /// The domain of mDNS.
    public static let local = Domain(unchecked: "local")

    init(unchecked name: String) { self.name = name }
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
