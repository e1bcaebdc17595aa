internal import DNSSD

/// A node with its file, so that every error has a file and a line.
struct YAMLValue {
    let node: Node
    let file: String
    /// The name used in messages: the value's key.
    let name: String
    /// Records errors beyond the one that is thrown.
    let faults: ConfigurationFaults

    /// A node inside this one.
    func part(_ node: Node, _ name: String) -> YAMLValue {
        YAMLValue(node: node, file: file, name: name, faults: faults)
    }

    func error(_ reason: String) -> ConfigurationError {
        ConfigurationError(file: file, line: node.line, reason: reason)
    }

    /// File and line.
    var place: String { "\(file.escapedForTerminal):\(node.line)" }

    /// Whether nothing was given: `key:`, `key: ~` or `key: null`.
    var isNull: Bool {
        guard case .scalar(let scalar) = node.content, scalar.isPlain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Whether it is a single value.
    var isScalar: Bool { if case .scalar = node.content { true } else { false } }

    /// Whether it has keys.
    var isMapping: Bool { if case .mapping = node.content { true } else { false } }

    /// A single value as written: `8080`, `true` and `"x"` alike.
    func text() throws(ConfigurationError) -> String {
        guard case .scalar(let scalar) = node.content, !isNull else { throw error("\(name) must be a text") }
        return scalar.string
    }

    /// A whole number in a range.
    func integer(in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        guard case .scalar(let scalar) = node.content, let number = Int(scalar.string), range.contains(number) else {
            throw error("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)\(found)")
        }
        guard scalar.isPlain else {
            throw error("\(name) must be a whole number: write \(number) without quotation marks")
        }
        return number
    }

    /// `true` or `false`.
    func truth() throws(ConfigurationError) -> Bool {
        guard case .scalar(let scalar) = node.content, scalar.isPlain, let truth = Bool(scalar.string) else {
            throw error("\(name) must be true or false\(found)")
        }
        return truth
    }

    /// One of a few words.
    func word<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type, named read: (String) -> Word? = Word.init(rawValue:)
    ) throws(ConfigurationError) -> Word where Word.RawValue == String {
        if case .scalar(let scalar) = node.content, let word = read(scalar.string) { return word }
        throw error("\(name) must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))\(found)")
    }

    /// `10s`, `500ms`, `2m`, or a number of seconds.
    func duration() throws(ConfigurationError) -> Duration {
        let fault = error("\(name) must be a time, as 10s, 500ms or 2m\(found)")
        guard case .scalar(let scalar) = node.content else { throw fault }
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
        switch node.content {
        case .sequence(let sequence):
            guard sequence.count <= limit else { throw error("\(name) has more than \(limit) entries") }
            return sequence.map { part($0, "an entry of \(name)") }
        case .scalar where !isNull: return [self]
        default: throw error("\(name) must be a list")
        }
    }

    /// The entries of a list of texts.
    func texts(atMost limit: Int) throws(ConfigurationError) -> [String] {
        try list(atMost: limit).map { entry throws(ConfigurationError) in try entry.text() }
    }

    /// A single value as its type reads it.
    func parsed<Value>(_ parse: (String) throws(DiscoveryError) -> Value) throws(ConfigurationError) -> Value {
        let text = try text()
        return try reading { () throws(DiscoveryError) in try parse(text) }
    }

    /// Runs `body`, which reads a value, and adds file and line to its error.
    func reading<Result>(_ body: () throws(DiscoveryError) -> Result) throws(ConfigurationError) -> Result {
        do { return try body() } catch { throw self.error("\(name): \(error.message)") }
    }

    private var found: String {
        if case .scalar(let scalar) = node.content { return ", not \(scalar.string.quotedForMessage)" }
        return ", not a list or mapping"
    }
}

/// A mapping that allows only known keys.
struct YAMLMapping {
    private let whole: YAMLValue
    private let values: [String: YAMLValue]

    /// - Throws: if the value is not a mapping. Unknown keys are recorded as errors.
    /// - Parameter old: keys of the version before, which no message names.
    init(_ value: YAMLValue, keys: [String], old: [String] = []) throws(ConfigurationError) {
        var values: [String: YAMLValue] = [:]
        for (key, entry) in try Self.entries(of: value) {
            guard keys.contains(key.text) || old.contains(key.text) else {
                value.faults.note(
                    key.value.error(
                        "unknown key \(key.text.quotedForMessage); known keys: \(keys.joined(separator: ", "))"))
                continue
            }
            values[key.text] = entry
        }
        self.whole = value
        self.values = values
    }

    /// The value of a key; nil if it is missing or null.
    subscript(key: String) -> YAMLValue? {
        guard let value = values[key], !value.isNull else { return nil }
        return value
    }

    /// The result of `body` for a key's value; nil if the key is missing, or if the value is wrong, which is recorded.
    @discardableResult
    func read<Result>(_ key: String, _ body: (YAMLValue) throws(ConfigurationError) -> Result) -> Result? {
        guard let value = self[key] else { return nil }
        return whole.faults.reading { () throws(ConfigurationError) in try body(value) }
    }

    /// What a key's value says as its type reads it; nil as of `read`.
    func parsed<Value>(_ key: String, _ parse: (String) throws(DiscoveryError) -> Value) -> Value? {
        read(key) { value throws(ConfigurationError) in try value.parsed(parse) }
    }

    /// One of a few words; nil as of `read`.
    func word<Word: RawRepresentable & CaseIterable>(_ key: String) -> Word? where Word.RawValue == String {
        read(key) { value throws(ConfigurationError) in try value.word(Word.self) }
    }

    /// The same for a required key.
    func readRequired<Result>(_ key: String, _ body: (YAMLValue) throws(ConfigurationError) -> Result) -> Result? {
        whole.faults.reading { () throws(ConfigurationError) in try body(try required(key)) }
    }

    /// The value of a required key.
    func required(_ key: String) throws(ConfigurationError) -> YAMLValue {
        guard let value = self[key] else { throw whole.error("\(whole.name) has no \(key)") }
        return value
    }

    /// The entries of a mapping in their order.
    static func entries(
        of value: YAMLValue
    ) throws(ConfigurationError) -> [(key: (text: String, value: YAMLValue), value: YAMLValue)] {
        guard case .mapping(let mapping) = value.node.content else {
            throw value.error("\(value.name) must be a mapping: lines of KEY: VALUE")
        }
        return mapping.map { key, entry in
            let text = key.scalar?.string ?? ""
            let name = text.escapedForTerminal
            return ((text, value.part(key, name)), value.part(entry, name))
        }
    }
}
