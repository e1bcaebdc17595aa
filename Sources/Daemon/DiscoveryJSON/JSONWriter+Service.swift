public import DNSSD

/// How much of a service is written.
public enum ServiceDetail: Hashable, Sendable {
    /// Its identity and interfaces: what browsing alone tells.
    case identity
    /// Host, port, TXT and endpoints too.
    case full
}

extension JSONWriter {
    /// Writes a service as one object.
    /// - Parameters:
    ///   - service: the service.
    ///   - detail: how much of it is written.
    ///   - keyState: what is known of the key that it had last; nil if it was not connected to.
    public mutating func service(_ service: DiscoveredService, detail: ServiceDetail, keyState: String? = nil) {
        object { object in
            object.member("name", service.instance.name.text)
            object.member("type", service.instance.type.description)
            object.member("domain", service.instance.domain.text)
            if detail == .full { object.write(ServiceField.learned, of: service) }
            object.member("interfaces", service.interfaces.names)
            if let keyState {
                object.key("identity")
                object.object { $0.member("state", keyState) }
            }
            if detail == .full { object.write(ServiceField.standing, of: service) }
        }
    }

    /// Writes a TXT record as an object: text, `null` for a key without `=`, or `{"base64":…}` for bytes that are not UTF-8.
    public mutating func txt(_ record: TXTRecord) {
        object { object in
            for entry in record.entries {
                object.key(entry.key)
                object.txtValue(entry.value)
            }
        }
    }

    /// Writes an endpoint; a link-local address has its interface as the zone (RFC 4007 §11.2).
    public mutating func endpoint(_ endpoint: Endpoint) {
        object { object in
            object.member("address", endpoint.addressText)
            object.member("port", Int(endpoint.port.rawValue))
            object.member("family", endpoint.address.family.rawValue)
            if let interface = endpoint.interface { object.member("interface", interface.name) }
            if let target = endpoint.target {
                object.member("host", target.host.text)
                object.member("priority", Int(target.priority))
                object.member("weight", Int(target.weight))
            }
        }
    }

    private mutating func write(_ fields: [ServiceField], of service: DiscoveredService) {
        for field in fields { field.write(service, &self) }
    }

    private mutating func txtValue(_ value: [UInt8]?) {
        guard let value else { return null() }
        if let text = String(validating: value, as: UTF8.self) { return string(text) }
        object { $0.member("base64", Base64.encode(value)) }
    }
}

extension Sequence<NetworkInterface> {
    /// The names, each once: an interface that was made anew under its old name counts once for a reader.
    var names: [String] {
        var names: [String] = []
        for interface in self where !names.contains(interface.name) { names.append(interface.name) }
        return names
    }
}
