extension ServiceType {
    /// A type seen on the network, in escaped form and without a domain; what RFC 6335 forbids is taken if DNS can
    /// carry it.
    ///
    /// Nil for what is not a label with `_tcp` or `_udp`, or a subtype of such.
    public init?(observed text: String) {
        guard let labels = try? DNSName(presentation: text).labels else { return nil }
        self.init(observedLabels: labels[...])
    }

    init?(observedLabels labels: ArraySlice<String>) {
        guard let last = labels.last, let transport = Transport(label: last) else { return nil }
        let others = Array(labels.dropLast())
        switch others.count {
        case 1: self.init(name: others[0], transport: transport, subtype: nil)
        case 3 where others[1].isSameDNSLabel(as: "_sub"):
            self.init(name: others[2], transport: transport, subtype: others[0])
        default: return nil
        }
    }
}
