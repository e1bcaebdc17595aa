/// The name of one service instance as people read it, such as "Tony's Mac" or "Büro 2 🖨" (RFC 6763 §4.1.1).
///
/// Names are compared byte for byte: two that look alike but are encoded differently belong to two services.
public struct ServiceName: Sendable {
    /// The longest name in bytes of UTF-8: one DNS label (RFC 6763 §4.1.1).
    public static let maximumLength = 63

    /// The name, unescaped.
    public let text: String

    /// Creates a name that was seen on the network. It may be any text: escape it wherever it is shown.
    public init(observed text: String) { self.text = text }
}

extension ServiceName: Hashable, Comparable {
    /// Compares byte for byte.
    public static func == (one: ServiceName, other: ServiceName) -> Bool {
        one.text.hasSameBytes(as: other.text)
    }

    /// Orders by bytes.
    public static func < (one: ServiceName, other: ServiceName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(utf8: text, foldingCase: false)
    }
}

extension ServiceName: CustomStringConvertible {
    /// The name, escaped for a terminal.
    public var description: String { text.escapedForTerminal }
}

extension ServiceName {
    /// Creates a name to publish.
    /// - Throws: `.invalidServiceName` unless it has 1 to 63 bytes of UTF-8, without control characters (RFC 6763
    ///   §4.1.1) and without non-characters, which Avahi refuses.
    public init(_ text: String) throws(DiscoveryError) {
        do throws(BrokenRule) {
            guard !text.isEmpty else { throw BrokenRule("the name is empty (RFC 6763 §4.1.1)") }
            guard text.utf8.count <= Self.maximumLength else {
                throw BrokenRule(
                    "the name has \(text.utf8.count) bytes, "
                        + "at most \(Self.maximumLength) are allowed (RFC 6763 §4.1.1)")
            }
            try text.checkPublishable()
        } catch {
            throw DiscoveryError(.invalidServiceName, text, error)
        }
        self.init(observed: text)
    }
}

extension ServiceName {
    /// Returns the name to try if this one is taken: `tony`, `tony #2`, `tony #3`, as Avahi counts (RFC 6763 Appendix
    /// D).
    ///
    /// It has at most 63 bytes: the text before the number is cut between characters, or between scalars if the first
    /// character alone is too long.
    public func nextAfterCollision() -> ServiceName {
        let (base, number) = numbered
        let suffix = " #\(number)"
        return ServiceName(observed: base.prefix(bytes: Self.maximumLength - suffix.utf8.count) + suffix)
    }

    /// The text before the number, and the next number. A number that is too large to count on is part of the text.
    private var numbered: (base: String, next: Int) {
        let digits = text.utf8.reversed().prefix(while: \.isASCIIDigit).count
        let base = text.utf8.dropLast(digits)
        guard digits > 0, base.suffix(2).elementsEqual(" #".utf8), let start = String(base.dropLast(2)),
            let suffix = String(text.utf8.suffix(digits)), !suffix.hasPrefix("0"), let number = Int(suffix),
            number < Int.max
        else { return (text, 2) }
        return (start, number + 1)
    }
}

extension String {
    /// Returns as many whole characters as fit, or as many scalars if the first character does not fit.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let characters = characters(fitting: limit)
        guard characters.isEmpty else { return String(characters) }
        return String(Self.fitting(unicodeScalars, limit) { UTF8.width($0) })
    }

    /// As many whole characters as fit in as many bytes.
    package func characters(fitting limit: Int) -> Substring { Self.fitting(self, limit) { $0.utf8.count } }

    private static func fitting<C: Collection>(_ parts: C, _ limit: Int, size: (C.Element) -> Int) -> C.SubSequence {
        var left = limit
        return parts.prefix {
            left -= size($0)
            return left >= 0
        }
    }
}

extension ServiceName {
    /// The name, unescaped.
    @available(*, deprecated, renamed: "text")
    public var value: String { text }
}
