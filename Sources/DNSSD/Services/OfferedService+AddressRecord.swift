extension OfferedService {
    /// The addresses of another host, without a service: a record for each under its name, and none that leads from the address to the name.
    /// Its name is the whole host name, and no other is taken where that is another's.
    /// - Throws: `.invalidAddress` if there are none.
    public init(
        addressesOf host: OfferedHost, interfaces: InterfaceFilter = .all, family: IPAddress.Family? = nil
    ) throws(DiscoveryError) {
        guard !host.addresses.isEmpty else {
            throw DiscoveryError(.invalidAddress, "there is no address to publish for \(host.name)")
        }
        self.init(
            // What no service has: the discard port, and a type of its own.
            name: ServiceName(observed: host.name.text), type: try ServiceType("_address._udp"), port: try Port(9),
            interfaces: interfaces, family: family, host: host)
        isAddressRecord = true
    }
}
