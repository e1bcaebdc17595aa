extension TXTRecord: ExpressibleByDictionaryLiteral {
    /// Creates a record to publish, in the order given: `["path": "/x", "flag": nil]`; nil stands for a key without `=`.
    ///
    /// This never fails, for the values may come from anywhere: a record that breaks a rule is kept as it is, `check()` throws for it, and it is
    /// not published (the publication has failed with that error).
    public init(dictionaryLiteral elements: (String, String?)...) {
        self.init()
        for (key, text) in elements { entries.append(Entry(uncheckedKey: key, value: text.map { Array($0.utf8) })) }
    }
}

extension TXTRecord {
    /// The value of a key as text, found without regard to ASCII case; nil if the key is missing, has no `=`, or its value is not UTF-8.
    ///
    /// Setting a text replaces the value, or adds the key at the end; setting nil removes the key. A record that then breaks a rule is
    /// treated as one made by a literal: `check()` throws for it, and it is not published. `append(key:value:)` throws at once.
    public subscript(key: String) -> String? {
        get { text(for: key) }
        set {
            let index = entries.firstIndex { $0.key.isSameDNSLabel(as: key) }
            guard let newValue else {
                if let index { entries.remove(at: index) }
                return
            }
            let entry = Entry(uncheckedKey: index.map { entries[$0].key } ?? key, value: Array(newValue.utf8))
            if let index { entries[index] = entry } else { entries.append(entry) }
        }
    }

    /// Checks a record that a literal or the subscript made; one that `append(key:value:)` made or the network sent keeps the rules.
    /// - Throws: `.invalidTXTRecord` for the first entry that `append(key:value:)` would refuse.
    public func check() throws(DiscoveryError) {
        var checked = TXTRecord()
        for entry in entries { try checked.append(key: entry.key, value: entry.value) }
    }
}
