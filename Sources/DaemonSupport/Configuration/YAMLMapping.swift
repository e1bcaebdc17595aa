internal import DNSSD
internal import Yams

/// A mapping whose keys are all known.
struct YAMLMapping {
    private let whole: YAMLValue
    private let values: [String: YAMLValue]

    /// - Throws: for what is no mapping, and for a key that is none of `keys`.
    init(_ value: YAMLValue, keys: [String]) throws(ConfigurationError) {
        var values: [String: YAMLValue] = [:]
        for (key, entry) in try Self.entries(of: value) {
            guard keys.contains(key.text) else {
                throw key.value.error(
                    "unknown key \(key.text.quotedForMessage); known keys: \(keys.joined(separator: ", "))")
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

    /// The value of a key that must be there.
    func required(_ key: String) throws(ConfigurationError) -> YAMLValue {
        guard let value = self[key] else { throw whole.error("\(whole.name) has no \(key)") }
        return value
    }

    /// The entries of a mapping in their order.
    static func entries(
        of value: YAMLValue
    ) throws(ConfigurationError) -> [(key: (text: String, value: YAMLValue), value: YAMLValue)] {
        guard case .mapping(let mapping) = value.node else {
            throw value.error("\(value.name) must be a mapping: lines of KEY: VALUE")
        }
        return mapping.map { key, entry in
            let text = key.scalar?.string ?? ""
            let name = text.escapedForTerminal
            return (
                (text, YAMLValue(node: key, file: value.file, name: name)),
                YAMLValue(node: entry, file: value.file, name: name)
            )
        }
    }
}
