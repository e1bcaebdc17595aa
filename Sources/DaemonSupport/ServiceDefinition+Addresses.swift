internal import DNSSD
internal import Discovery
internal import DiscoveryDaemon

extension YAMLMapping {
    /// An entry with the addresses of a host, and none of what every service has.
    var isAddressRecord: Bool {
        self["name"] == nil && self["type"] == nil && self["port"] == nil && self["addresses"] != nil
    }
}

extension ServiceDefinition {
    /// The addresses of another host without a service: `host`, `addresses`, and where.
    init?(addresses value: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["host", "addresses", "interfaces", "family"])
        let host = mapping.readRequired("host") { host throws(ConfigurationError) in
            try Self.host(
                host, addresses: try mapping.required("addresses").list(atMost: OfferedHost.maximumAddressCount))
        }
        let interfaces = mapping.read("interfaces", Self.interfaces)
        let family = mapping.read("family", Self.family)
        guard let host else { return nil }
        let record = try value.reading { () throws(DiscoveryError) in
            try OfferedService(addressesOf: host, interfaces: interfaces ?? .all, family: family)
        }
        self.init(service: record, onConflict: .fail)
    }
}
