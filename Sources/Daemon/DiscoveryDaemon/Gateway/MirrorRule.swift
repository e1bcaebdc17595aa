public import DNSSD

/// The links to which services of another link are mirrored.
public struct MirrorLinks: Hashable, Sendable {
    /// This machine's links, by name.
    public var interfaces: InterfaceFilter
    /// What the names of mirrored hosts end in: `printer-iot.local` is `printer.local` of the link called `iot`. Mirrors of the same link that
    /// have the same label publish the same records, and do not contend for them (RFC 6762 §6.6).
    public var label: String

    /// The longest label in bytes.
    static let longestLabel = 20
    /// The longest name of a link's host, in bytes, that is part of the mirrored one's.
    static let longestHost = 40

    /// Links and a label.
    public init(interfaces: InterfaceFilter, label: String) { (self.interfaces, self.label) = (interfaces, label) }

    /// Whether a label can be part of any host's name.
    static func isLabel(_ text: String) -> Bool {
        1...longestLabel ~= text.utf8.count && text.allSatisfy(isOfLabel)
    }

    private static func isOfLabel(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || character == "-"
    }

    /// The name of a host of the other link here: its own with the label, so that nothing there can take a name of this link. A name of more
    /// labels, or with other characters than letters, digits and hyphens, becomes a number.
    package func hostName(of export: Export) throws(DiscoveryError) -> HostName {
        let labels = export.linkHost.text.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let first = export.linkHost.text.prefix { $0 != "." }
        let isNumbered = first.lowercased().hasPrefix("host") && first.dropFirst(4).allSatisfy(\.isNumber)
        let fits =
            labels.count == 2 && labels[1] == "local" && !isNumbered && 1...Self.longestHost ~= first.utf8.count
            && first.allSatisfy(Self.isOfLabel)
        return try HostName("\(fits ? String(first) : "host\(export.host)")-\(label).local")
    }

    /// What is published on these links for a service of the other one.
    package func service(for export: Export) throws(DiscoveryError) -> OfferedService {
        var service = export.service
        service.interfaces = interfaces
        service.host = try OfferedHost(name: hostName(of: export), addresses: export.addresses)
        service.original = export.linkHost
        return service
    }
}

extension ExportRule {
    /// Reads one entry of `mirror:`; nil if a part is missing or wrong, which is recorded.
    init?(mirror value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["from", "to", "types", "names", "label"])
        func links(_ key: String) -> InterfaceFilter? {
            mapping.readRequired(key) { value throws(ConfigurationError) in
                let patterns = try Self.patterns(value)
                return try value.reading { () throws(DiscoveryError) in try InterfaceFilter(patterns) }
            }
        }
        let (from, to) = (links("from"), links("to"))
        let label = mapping.read("label") { value throws(ConfigurationError) in
            let text = try value.text()
            guard MirrorLinks.isLabel(text) else {
                throw value.error("label has 1 to \(MirrorLinks.longestLabel) letters, digits and hyphens")
            }
            return text
        }
        let (types, names) = Self.services(mapping)
        guard let from, let to, let types else { return nil }
        guard Set(from.patterns).isDisjoint(with: to.patterns) else {
            throw value.error("from and to name the same link")
        }
        guard let label = label ?? from.patterns.first.flatMap({ MirrorLinks.isLabel($0) ? $0 : nil }) else {
            throw value.error("label is missing: what the names of hosts end in, as iot in printer-iot.local")
        }
        self.init(
            interfaces: from, to: .links(MirrorLinks(interfaces: to, label: label)), types: types, names: names ?? .all)
    }

    /// Reads `mirror:`.
    static func mirrors(_ value: YAMLValue) throws(ConfigurationError) -> [ExportRule] {
        var rules: [ExportRule] = []
        for entry in try value.list(atMost: maximumCount) {
            let rule = value.faults.reading { () throws(ConfigurationError) in try ExportRule(mirror: entry) } ?? nil
            guard let rule else { continue }
            if rules.contains(where: { $0.destination == rule.destination }) {
                value.faults.note(entry.error("two links have the same label: their hosts would have the same names"))
            }
            rules.append(rule)
        }
        return rules
    }
}
