/// Selects interfaces by shell patterns: `en*` includes, `!docker*` excludes. Without patterns, all are selected.
public struct InterfaceFilter: Hashable, Sendable {
    /// The longest pattern in bytes.
    public static let maximumPatternLength = 64
    /// The largest number of patterns.
    public static let maximumPatternCount = 64

    /// The patterns as given.
    public let patterns: [String]
    private let included: [Glob]
    private let excluded: [Glob]

    /// The filter that selects all interfaces.
    public static let all = InterfaceFilter()

    private init() {
        patterns = []
        included = []
        excluded = []
    }

    /// Reads patterns of `*`, `?`, `[a-z]` and `[!a-z]`; a pattern that begins with `!` excludes.
    /// - Throws: `.invalidInterface` if a pattern is empty, longer than 64 bytes, or has an unclosed `[` or a backward
    ///   range, and if there are more than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        try self.init(patterns, of: "interface", .invalidInterface)
    }

    /// Reads patterns of other things.
    /// - Parameters:
    ///   - patterns: the patterns.
    ///   - subject: the things, for the message of an error.
    ///   - code: the code of an error.
    init(_ patterns: [String], of subject: String, _ code: DiscoveryError.Code) throws(DiscoveryError) {
        guard patterns.count <= Self.maximumPatternCount else {
            throw DiscoveryError(
                code, "\(patterns.count) \(subject) patterns, at most \(Self.maximumPatternCount) are allowed")
        }
        var included: [Glob] = []
        var excluded: [Glob] = []
        for pattern in patterns {
            do throws(BrokenRule) {
                guard pattern.utf8.count <= Self.maximumPatternLength else {
                    throw BrokenRule("the \(subject) pattern is longer than \(Self.maximumPatternLength) bytes")
                }
                let excludes = pattern.unicodeScalars.first == "!"
                let glob = excludes ? String(pattern.unicodeScalars.dropFirst()) : pattern
                guard !glob.isEmpty else { throw BrokenRule("the \(subject) pattern is empty") }
                if excludes { excluded.append(try Glob(glob)) } else { included.append(try Glob(glob)) }
            } catch {
                throw DiscoveryError(code, pattern, error)
            }
        }
        (self.patterns, self.included, self.excluded) = (patterns, included, excluded)
    }

    /// Returns whether the filter selects the interface with this name: no pattern excludes it, and a pattern includes
    /// it or there is none that includes.
    public func allows(_ name: String) -> Bool {
        (included.isEmpty || included.contains { $0.matches(name) }) && !excluded.contains { $0.matches(name) }
    }
}

/// A network interface of this machine. Index and name both identify it, because the system reuses indexes.
public struct NetworkInterface: Hashable, Sendable, Comparable {
    /// The system's index, from 1.
    public let index: UInt32
    /// The system's name, such as `eth0`.
    public let name: String

    /// Creates a value without asking the system.
    public init(index: UInt32, name: String) {
        self.index = index
        self.name = name
    }

    /// Orders by index, then by name.
    public static func < (one: NetworkInterface, other: NetworkInterface) -> Bool {
        (one.index, one.name) < (other.index, other.name)
    }
}

extension NetworkInterface: Identifiable, CustomStringConvertible {
    /// The interface itself.
    public var id: NetworkInterface { self }

    /// The name; safe for a terminal.
    public var description: String { name.escapedForTerminal }
}

extension NetworkInterface {
    /// Whether this is the loopback interface. Linux has one, with a fixed name (drivers/net/loopback.c).
    package var isLoopback: Bool { name == "lo" }
}

/// A shell pattern of `*`, `?`, `[a-z]` and `[!a-z]`. Every other character, even a backslash, stands for itself.
package struct Glob: Hashable, Sendable {
    private enum Part: Hashable {
        case star
        case any
        case literal(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], negated: Bool)

        func matches(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .star: false
            case .any: true
            case .literal(let literal): literal == scalar
            case .set(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
            }
        }
    }

    private let parts: [Part]

    package init(_ pattern: String) throws(BrokenRule) {
        var parts: [Part] = []
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": parts.append(.star)
            case "?": parts.append(.any)
            case "[": parts.append(try Self.takeSet(from: &rest))
            default: parts.append(.literal(scalar))
            }
        }
        self.parts = parts
    }

    /// Takes a set up to its `]`; the `[` has been taken. As in a shell, a `]` that comes first belongs to the set.
    private static func takeSet(from rest: inout Substring.UnicodeScalarView) throws(BrokenRule) -> Part {
        let negated = rest.first == "!"
        if negated { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let lower = rest.popFirst() {
            if lower == "]", !ranges.isEmpty { return .set(ranges, negated: negated) }
            let following = rest.prefix(2)
            guard following.count == 2, following.first == "-", let upper = following.last, upper != "]" else {
                ranges.append(lower...lower)
                continue
            }
            guard lower <= upper else {
                let range = String(String.UnicodeScalarView([lower, "-", upper]))
                throw BrokenRule("the range \(range.quotedForMessage) is backwards")
            }
            ranges.append(lower...upper)
            rest.removeFirst(2)
        }
        throw BrokenRule("a [ has no ]")
    }

    /// Returns whether the whole text matches. Takes at most the product of both lengths in steps: it only ever goes
    /// back to the last star.
    package func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var (part, position) = (0, 0)
        var retry: (part: Int, position: Int)?
        while position < scalars.count {
            if part < parts.count, parts[part] == .star {
                part += 1
                retry = (part, position)
            } else if part < parts.count, parts[part].matches(scalars[position]) {
                part += 1
                position += 1
            } else if let last = retry {
                part = last.part
                position = last.position + 1
                retry = (part, position)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .star }
    }
}

/// Selects service names by shell patterns: `Printer*` includes, `!*private*` excludes. Without patterns, all are
/// selected.
public struct NamePatterns: Hashable, Sendable {
    /// The patterns as given.
    public let patterns: [String]
    private let filter: InterfaceFilter

    /// The patterns that select every name.
    public static let all = NamePatterns()

    private init() {
        patterns = []
        filter = .all
    }

    /// Reads patterns with the syntax of `InterfaceFilter`.
    /// - Throws: `.invalidServiceName` if a pattern is empty, longer than 64 bytes or malformed, and if there are more
    ///   than 64 patterns.
    public init(_ patterns: [String]) throws(DiscoveryError) {
        self.patterns = patterns
        filter = try InterfaceFilter(patterns, of: "name", .invalidServiceName)
    }

    /// Returns whether the patterns select a name.
    public func allows(_ name: ServiceName) -> Bool { filter.allows(name.text) }
}
