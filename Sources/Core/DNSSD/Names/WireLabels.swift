// Converts names from and to the labels of a DNS message. DNS-SD names are UTF-8 (RFC 6763 §4.1.1).

extension DNSName {
    init?(labels: some Sequence<some Collection<UInt8>>) {
        var texts: [String] = []
        for label in labels {
            guard !label.isEmpty, let text = String(validating: label, as: UTF8.self) else { return nil }
            texts.append(text)
        }
        self.init(labels: texts)
    }

    private init(labels: [String]) { self.labels = labels }

    /// Returns the labels of a presentation that has been checked before.
    fileprivate static func labels(of presentation: String) -> [[UInt8]] {
        (try? DNSName(presentation: presentation).labels.map { Array($0.utf8) }) ?? []
    }
}

extension Domain {
    /// The labels in order, without the root's.
    package var labels: [[UInt8]] { DNSName.labels(of: text) }

    /// Creates a domain from its labels; nil if one is not UTF-8 or there are none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels), !name.labels.isEmpty else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension HostName {
    /// Creates a host name from its labels; bytes that are not UTF-8 are escaped. Nil if a label is empty or there are none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        var texts: [String] = []
        for label in labels {
            guard !label.isEmpty else { return nil }
            texts.append(String(validating: label, as: UTF8.self).map(DNSName.escape) ?? DNSName.escape(bytes: label))
        }
        guard !texts.isEmpty else { return nil }
        self.init(unchecked: texts.joined(separator: "."))
    }
}

extension ServiceName {
    /// Creates a name from its label; nil if it is empty or not UTF-8.
    package init?(label: some Collection<UInt8>) {
        guard !label.isEmpty, let text = String(validating: label, as: UTF8.self) else { return nil }
        self.init(observed: text)
    }
}

extension ServiceType {
    /// The labels in order: those of `_witap._tcp`, or of `_sub1._sub._witap._tcp` with a subtype.
    package var labels: [[UInt8]] {
        (subtype.map { [Array($0.utf8), Array("_sub".utf8)] } ?? [])
            + [Array(name.utf8), Array(transport.rawValue.utf8)]
    }

    /// Creates a type from its labels; nil if they do not form a type.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels) else { return nil }
        self.init(observedLabels: name.labels[...])
    }
}
