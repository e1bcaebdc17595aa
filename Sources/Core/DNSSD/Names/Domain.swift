/// A DNS domain that contains services: `local` for mDNS (RFC 6762 §3).
public struct Domain: Sendable {
    /// The name in escaped presentation form, without a final dot; safe for a terminal.
    public let text: String

    /// The domain of mDNS.
    public static let local = Domain(unchecked: "local")

    init(unchecked text: String) { self.text = text }
}

extension Domain {
    /// Returns whether the domain is `other` or lies below it: `lab.example.org` is within `example.org`.
    public func isWithin(_ other: Domain) -> Bool {
        if self == other { return true }
        let (mine, theirs) = (Array(text.utf8), Array(other.text.utf8))
        guard mine.count > theirs.count, mine[mine.count - theirs.count - 1] == UInt8(ascii: ".") else { return false }
        let before = mine.dropLast(theirs.count + 1)
        // An escaped dot does not end a label.
        let backslashes = before.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        guard backslashes.isMultiple(of: 2) else { return false }
        return String(decoding: mine.suffix(theirs.count), as: UTF8.self).hasSameFoldedBytes(as: other.text)
    }
}

extension Domain {
    /// Why it cannot be a zone's: it has a label `*`, a wildcard (RFC 4592); nil if it can.
    package var wildcardFault: DiscoveryError? {
        guard labels.contains(Array("*".utf8)) else { return nil }
        return DiscoveryError(.invalidDomain, "\(text) has a label *, which is a wildcard in a zone (RFC 4592)")
    }
}

extension Domain: Hashable {
    /// Compares without regard to ASCII case.
    public static func == (one: Domain, other: Domain) -> Bool {
        one.text.hasSameFoldedBytes(as: other.text)
    }

    /// Hashes without regard to ASCII case.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: text, foldingCase: true)
    }
}

extension Domain: CustomStringConvertible {
    /// The name in escaped presentation form: safe for a terminal, and accepted by `init(_:)`.
    public var description: String { text }
}

extension Domain {
    /// Reads `local`, `local.` or `example.org`; `\.` and `\DDD` stand for special bytes within a label.
    /// - Throws: `.invalidDomain` unless each label has 1 to 63 bytes and the name at most 255 (RFC 1035 §2.3.4), or if
    ///   a label contains control characters or non-characters.
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            self.init(unchecked: try DNSName(checked: text).presentation)
        } catch {
            throw DiscoveryError(.invalidDomain, text, error)
        }
    }

    /// Reads a domain that was seen on the network, in escaped form; nil if no DNS packet can have carried it.
    public init?(observed text: String) {
        guard let name = DNSName(observed: text) else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension Domain: Comparable {
    /// Orders by bytes, without regard to ASCII case.
    public static func < (one: Domain, other: Domain) -> Bool { one.text.precedesAsDNSLabel(other.text) }
}

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

extension HostName: Comparable {
    /// Orders by bytes, without regard to ASCII case.
    public static func < (one: HostName, other: HostName) -> Bool { one.text.precedesAsDNSLabel(other.text) }
}

extension Domain {
    /// The name in escaped presentation form, without a final dot.
    @available(*, deprecated, renamed: "text")
    public var name: String { text }
}

extension HostName {
    /// The name in escaped presentation form, without a final dot.
    @available(*, deprecated, renamed: "text")
    public var name: String { text }
}
