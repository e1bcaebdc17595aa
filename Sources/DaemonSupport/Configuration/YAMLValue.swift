internal import DNSSD
internal import Yams

/// A node with the file it is from, so that whatever is wrong with it is told with its line.
struct YAMLValue {
    let node: Node
    let file: String
    /// How it is called in messages: the key it is the value of.
    let name: String

    func error(_ reason: String) -> ConfigurationError {
        ConfigurationError(file: file, line: node.mark?.line, reason: reason)
    }

    /// File and line.
    var place: String { node.mark.map { "\(file.escapedForTerminal):\($0.line)" } ?? file.escapedForTerminal }

    /// Nothing was written: `key:`, `key: ~` or `key: null`.
    var isNull: Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Whether it is a single value.
    var isScalar: Bool { if case .scalar = node { true } else { false } }

    /// Whether it has keys.
    var isMapping: Bool { if case .mapping = node { true } else { false } }

    /// A single value as it was written: `8080`, `true` and `"x"` alike.
    func text() throws(ConfigurationError) -> String {
        guard case .scalar(let scalar) = node, !isNull else { throw error("\(name) must be a text") }
        return scalar.string
    }

    /// A whole number in a range.
    func integer(in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        guard case .scalar(let scalar) = node, scalar.style == .plain, let number = Int(scalar.string),
            range.contains(number)
        else { throw error("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)\(found)") }
        return number
    }

    /// One of a few words.
    func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type
    ) throws(ConfigurationError) -> Word where Word.RawValue == String {
        if case .scalar(let scalar) = node, let word = Word(rawValue: scalar.string) { return word }
        throw error("\(name) must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))\(found)")
    }

    /// `10s`, `500ms`, `2m`, or a number of seconds.
    func duration() throws(ConfigurationError) -> Duration {
        let fault = error("\(name) must be a time, as 10s, 500ms or 2m\(found)")
        guard case .scalar(let scalar) = node else { throw fault }
        let text = scalar.string
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units = ["ms": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000]
        guard digits.count <= 9, let number = Int(digits), let unit = units[String(text.dropFirst(digits.count))] else {
            throw fault
        }
        return .milliseconds(number * unit)
    }

    /// The entries of a list; a single text is a list of one.
    func list(atMost limit: Int) throws(ConfigurationError) -> [YAMLValue] {
        switch node {
        case .sequence(let sequence):
            guard sequence.count <= limit else { throw error("\(name) has more than \(limit) entries") }
            return sequence.map { YAMLValue(node: $0, file: file, name: "an entry of \(name)") }
        case .scalar where !isNull: return [self]
        default: throw error("\(name) must be a list")
        }
    }

    /// Runs `body`, which reads a value, and puts file and line to its error.
    func reading<Result>(_ body: () throws(DiscoveryError) -> Result) throws(ConfigurationError) -> Result {
        do { return try body() } catch { throw self.error("\(name): \(error.message)") }
    }

    private var found: String {
        if case .scalar(let scalar) = node { return ", not \(scalar.string.quotedForMessage)" }
        return ", not a list or mapping"
    }
}
