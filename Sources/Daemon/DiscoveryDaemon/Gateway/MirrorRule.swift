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

    /// Whether a label can be part of any host's name.
    static func isLabel(_ text: String) -> Bool {
        1...longestLabel ~= text.utf8.count && text.allSatisfy(isOfLabel) && text.first != "-" && text.last != "-"
    }

    private static func isOfLabel(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || character == "-"
    }

    /// The name of a host of the other link here: its own with the label, so that nothing there can take a name of this link. A name of more
    /// labels, or with other characters than letters, digits and hyphens, becomes a number made of it: two mirrors have the same one.
    package func hostName(of export: Export) throws(DiscoveryError) -> HostName {
        let labels = export.linkHost.text.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let first = export.linkHost.text.prefix { $0 != "." }
        let isNumbered = first.lowercased().hasPrefix("host") && first.dropFirst(4).allSatisfy(\.isHexDigit)
        let fits =
            labels.count == 2 && labels[1] == "local" && !isNumbered && 1...Self.longestHost ~= first.utf8.count
            && first.allSatisfy(Self.isOfLabel)
        return try HostName("\(fits ? String(first) : "host\(Self.number(of: export.linkHost))")-\(label).local")
    }

    /// FNV-1a of 32 bits over its bytes in lower case, in hexadecimal.
    private static func number(of host: HostName) -> String {
        let hash = host.text.lowercased().utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return String(hash, radix: 16)
    }

    /// What is published on these links for a service of another one, or of another site.
    /// - Parameter mayCome: its host may come here, and has the name then.
    package func service(for export: Export, mayCome: Bool) throws(DiscoveryError) -> OfferedService {
        var service = export.service
        service.interfaces = interfaces
        service.host = try OfferedHost(name: hostName(of: export), addresses: export.addresses)
        if mayCome { service.original = export.linkHost }
        return service
    }
}

extension ExportRule {
    /// What the names of mirrored hosts end in, in lower case; nil where none are mirrored.
    var hostEnding: String? {
        if case .links(let links) = destination { "-\(links.label).local".lowercased() } else { nil }
    }

    /// Reads one entry of `mirror:`; nil if a part is missing or wrong, which is recorded.
    init?(mirror value: YAMLValue, _ known: Set<String>?) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["from", "to", "types", "names", "label"])
        let from = mapping.readRequired("from") { value throws(ConfigurationError) -> Source in
            value.isMapping ? .peer(try MirrorPeer(value, known)) : .links(try Self.links(value))
        }
        let to = mapping.readRequired("to", Self.links)
        let label = mapping.read("label") { value throws(ConfigurationError) in
            let text = try value.text()
            guard MirrorLinks.isLabel(text) else {
                throw value.error(
                    "label has 1 to \(MirrorLinks.longestLabel) letters, digits and hyphens, none of these at an end")
            }
            return text
        }
        let (types, names) = Self.services(mapping)
        guard let from, let to, let types else { return nil }
        let name: String?
        switch from {
        case .links(let links):
            guard Set(links.patterns).isDisjoint(with: to.patterns) else {
                throw value.error("from and to name the same link")
            }
            guard !links.isCertainlyWithin(to) else {
                throw value.error(
                    "to has each link of from, so that nothing is mirrored: leave these out, as in [\"*\", \"!iot0\"]")
            }
            name = links.patterns.first
        case .peer(let peer): name = peer.name
        }
        guard let label = label ?? name.flatMap({ MirrorLinks.isLabel($0) ? $0 : nil }) else {
            throw value.error("label is missing: what the names of hosts end in, as iot in printer-iot.local")
        }
        self.init(
            from: from, to: .links(MirrorLinks(interfaces: to, label: label)), types: types, names: names ?? .all)
    }

    /// Reads `mirror:`.
    /// - Parameter known: as of `PeerKeys.name`.
    static func mirrors(
        _ value: YAMLValue, _ known: Set<String>?
    ) throws(ConfigurationError) -> [ExportRule] {
        var rules: [ExportRule] = []
        for entry in try value.list(atMost: maximumCount) {
            let rule =
                value.faults.reading { () throws(ConfigurationError) in try ExportRule(mirror: entry, known) } ?? nil
            guard let rule else { continue }
            for other in rules where other.hostEnding == rule.hostEnding {
                if other.source != rule.source {
                    value.faults.note(
                        entry.error("two links or sites have the same label: their hosts would have the same names"))
                } else if other.destination == rule.destination {
                    value.faults.note(entry.error("two rules mirror the same to the same: put their types into one"))
                }
            }
            rules.append(rule)
        }
        return rules
    }
}

extension InterfaceFilter {
    /// Whether whatever link it may be is one of others, too, as far as the patterns say so.
    fileprivate func isCertainlyWithin(_ others: InterfaceFilter) -> Bool {
        let named = patterns.filter { !$0.hasPrefix("!") }
        return (named.isEmpty ? ["*"] : named).allSatisfy { pattern in
            let isLiteral = !pattern.contains { "*?[".contains($0) }
            return others.allows(pattern) && (isLiteral || !others.patterns.contains { $0.hasPrefix("!") })
        }
    }
}
