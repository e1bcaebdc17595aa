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
