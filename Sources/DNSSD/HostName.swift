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
