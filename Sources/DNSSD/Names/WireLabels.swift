// Names as the labels that a DNS message has. Labels that are not UTF-8 are no names of DNS-SD (RFC 6763 §4.1.1).

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

    /// The labels of a presentation that was checked when it was made.
    fileprivate static func labels(of presentation: String) -> [[UInt8]] {
        (try? DNSName(presentation: presentation).labels.map { Array($0.utf8) }) ?? []
    }
}

extension Domain {
    /// The labels in order, without the root's.
    package var labels: [[UInt8]] { DNSName.labels(of: name) }

    /// A domain by its labels; nil when one is not UTF-8, or there is none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels), !name.labels.isEmpty else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension HostName {
    /// A host name by its labels; nil when one is not UTF-8, or there is none.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels), !name.labels.isEmpty else { return nil }
        self.init(unchecked: name.presentation)
    }
}

extension ServiceName {
    /// A name by its label; nil when that is not UTF-8.
    package init?(label: some Collection<UInt8>) {
        guard !label.isEmpty, let text = String(validating: label, as: UTF8.self) else { return nil }
        self.init(observed: text)
    }
}

extension ServiceType {
    /// `_witap._tcp`, or `_sub1._sub._witap._tcp` where it has a subtype.
    package var labels: [[UInt8]] {
        (subtype.map { [Array($0.utf8), Array("_sub".utf8)] } ?? [])
            + [Array(name.utf8), Array(transport.rawValue.utf8)]
    }

    /// A type by its labels; nil when they are none of a type.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        guard let name = DNSName(labels: labels) else { return nil }
        self.init(observedLabels: name.labels[...])
    }
}
