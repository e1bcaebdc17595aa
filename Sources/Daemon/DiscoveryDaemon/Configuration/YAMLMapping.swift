internal import DNSSD

/// A mapping that allows only known keys.
struct YAMLMapping {
    private let whole: YAMLValue
    private let values: [String: YAMLValue]

    /// - Throws: if the value is not a mapping. Unknown keys are recorded as errors.
    init(_ value: YAMLValue, keys: [String]) throws(ConfigurationError) {
        var values: [String: YAMLValue] = [:]
        for (key, entry) in try Self.entries(of: value) {
            guard keys.contains(key.text) else {
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
    func read<Result>(_ key: String, _ body: (YAMLValue) throws(ConfigurationError) -> Result) -> Result? {
        guard let value = self[key] else { return nil }
        return whole.faults.reading { () throws(ConfigurationError) in try body(value) }
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
            return (
                (text, value.part(key, name)),
                value.part(entry, name)
            )
        }
    }
}
