internal import DNSSD

/// A mapping whose keys are all known.
struct YAMLMapping {
    private let whole: YAMLValue
    private let values: [String: YAMLValue]

    /// - Throws: for what is no mapping. A key that is none of `keys` is noted among the faults.
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

    /// The value of a key; nil when it is not there or null.
    subscript(key: String) -> YAMLValue? {
        guard let value = values[key], !value.isNull else { return nil }
        return value
    }

    /// What `body` makes of the value of a key; nil when it is not there, and when it is wrong, which is noted.
    func read<Result>(_ key: String, _ body: (YAMLValue) throws(ConfigurationError) -> Result) -> Result? {
        guard let value = self[key] else { return nil }
        return whole.faults.reading { () throws(ConfigurationError) in try body(value) }
    }

    /// The same for a key that must be there.
    func readRequired<Result>(_ key: String, _ body: (YAMLValue) throws(ConfigurationError) -> Result) -> Result? {
        whole.faults.reading { () throws(ConfigurationError) in try body(try required(key)) }
    }

    /// The value of a key that must be there.
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
