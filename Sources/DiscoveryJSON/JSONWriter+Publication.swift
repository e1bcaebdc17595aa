public import DNSSD

extension JSONWriter {
    /// Writes where a publication stands as one line: `name` is the name now, `service.name` the wanted one.
    public mutating func publishedLine(_ service: Service, name: ServiceName, state: String, reason: String? = nil) {
        line("published") { object in
            object.member("name", name.value)
            object.member("wanted", service.name.value)
            object.member("type", service.type.description)
            object.member("domain", service.domain.name)
            object.member("port", Int(service.port.rawValue))
            object.member("state", state)
            if let reason { object.member("reason", reason) }
        }
    }
}
