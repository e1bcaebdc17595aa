public import DNSSD

extension JSONWriter {
    /// Writes where a publication stands as one line: `name` is the name now, `service.name` the wanted one.
    public mutating func publishedLine(
        _ service: OfferedService, name: ServiceName, state: String, reason: String? = nil
    ) {
        line("published") { $0.publishedMembers(service, name: name, state: state, reason: reason) }
    }

    /// Writes the members of that line.
    public mutating func publishedMembers(
        _ service: OfferedService, name: ServiceName, state: String = "established", reason: String? = nil
    ) {
        member("name", name.text)
        member("wanted", service.name.text)
        if !service.isAddressRecord { member("type", service.type.description) }
        member("domain", service.domain.text)
        if service.isAddressRecord, let host = service.host {
            member("host", host.name.text)
            member("addresses", host.addresses.map(\.description))
        } else {
            member("port", Int(service.port.rawValue))
        }
        member("state", state)
        if let reason { member("reason", reason) }
    }

    /// Writes the member `service` of what happens to a service: which one it is.
    public mutating func service(_ instance: ServiceInstance) {
        key("service")
        self.instance(instance)
    }

    /// Writes which service it is.
    mutating func instance(_ instance: ServiceInstance) {
        object { object in
            object.member("name", instance.name.text)
            object.member("type", instance.type.text)
            object.member("domain", instance.domain.text)
        }
    }
}
