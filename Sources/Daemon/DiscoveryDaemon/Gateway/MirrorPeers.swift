public import DNSSD
internal import PeerIdentity

/// The daemon of another site whose services are mirrored.
public struct MirrorPeer: Hashable, Sendable {
    /// Its name in `peers`.
    public var name: String
    /// Its address, or a name that has one.
    public var host: String
    /// Where it listens.
    public var port: Port
}

/// Where daemons of other sites are told services.
public struct MirrorListen: Hashable, Sendable, CustomStringConvertible {
    /// The address to bind.
    public var address: IPAddress
    /// The port.
    public var port: Port
    /// Who is told, by its name in `peers`.
    public var peers: [String]

    /// Address and port.
    public var description: String { address.family == .ipv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}

/// The daemons of other sites, and their keys.
enum PeerKeys {
    static let most = 64

    /// Reads `peers:`.
    /// - Returns: who is named, and their keys; a name may have none, which is recorded.
    static func read(_ value: YAMLValue) throws(ConfigurationError) -> (
        names: Set<String>, keys: [String: KeyFingerprint]
    ) {
        var keys: [String: KeyFingerprint] = [:]
        let entries = try YAMLMapping.entries(of: value)
        guard entries.count <= most else { throw value.error("peers has more than \(most) entries") }
        for (name, entry) in entries {
            value.faults.reading { () throws(ConfigurationError) in
                guard MirrorLinks.isLabel(name.text) else {
                    throw name.value.error(
                        "the name of a peer has 1 to \(MirrorLinks.longestLabel) letters, digits and hyphens, none of these at an end"
                    )
                }
                let text = try entry.text()
                guard let key = KeyFingerprint(text) else {
                    throw entry.error(
                        "\(name.text) must be a key, as SHA256:… in 'discoverd status', not \(text.quotedForMessage)")
                }
                guard !keys.values.contains(key) else { throw entry.error("two peers have the same key") }
                keys[name.text] = key
            }
        }
        return (Set(entries.map(\.key.text)), keys)
    }

    /// The name of a peer.
    /// - Parameter known: who is named in `peers`; nil where that could not be read, so that nobody is unknown.
    static func name(_ value: YAMLValue, of known: Set<String>?) throws(ConfigurationError) -> String {
        let name = try value.text()
        guard known?.contains(name) ?? true else { throw value.error("\(name.quotedForMessage) has no key in peers") }
        return name
    }
}

extension MirrorPeer {
    /// Reads `{peer: site-a, address: "10.8.0.1:5354"}`.
    init(_ value: YAMLValue, _ known: Set<String>?) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["peer", "address"])
        let name = try PeerKeys.name(mapping.required("peer"), of: known)
        let address = try mapping.required("address")
        let text = try address.text()
        if let place = Listening.place(text) {
            self.init(name: name, host: "\(place.address)", port: place.port)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt16(parts[1]), let port = Port(rawValue: number) else {
            throw address.error(
                "address must be a host and a port, as 10.8.0.1:5354 or \"[fd00::1]:5354\", not \(text.quotedForMessage)"
            )
        }
        let host = try address.reading { () throws(DiscoveryError) in try HostName(String(parts[0])) }
        self.init(name: name, host: host.text, port: port)
    }
}

extension ExportRule {
    /// Reads `mirror-listen:`; nil if a part is missing or wrong, which is recorded.
    init?(listen value: YAMLValue, _ known: Set<String>?) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["address", "from", "types", "names", "peers"])
        let place = mapping.readRequired("address") { value throws(ConfigurationError) in
            let text = try value.text()
            guard let place = Listening.place(text) else {
                throw value.error(
                    "address must be an IP address and a port, as 10.8.0.1:5354, not \(text.quotedForMessage)")
            }
            guard !place.address.isMulticast, !place.address.isLinkLocal else {
                throw value.error("address must be one of this machine that has no scope, as 10.8.0.1:5354")
            }
            guard place.port.rawValue != DNSListen.multicastPort else {
                throw value.error("port 5353 is multicast DNS's own")
            }
            return place
        }
        let from = mapping.readRequired("from", Self.links)
        let peers = mapping.readRequired("peers") { value throws(ConfigurationError) in
            var names: [String] = []
            for entry in try value.list(atMost: PeerKeys.most) { names.append(try PeerKeys.name(entry, of: known)) }
            guard !names.isEmpty, Set(names).count == names.count else {
                throw value.error("peers has each of those that are told once, and at least one")
            }
            return names
        }
        let (types, names) = Self.services(mapping)
        guard let place, let from, let peers, let types else { return nil }
        self.init(
            from: .links(from), to: .peers(MirrorListen(address: place.address, port: place.port, peers: peers)),
            types: types, names: names ?? .all)
    }
}
