#if Commands
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON

/// What `ls` lists: a registration of the daemon, or what a file has avahi-daemon publish.
enum ListedOffer: Hashable {
    case registration(RegistrationStatus)
    case file(AvahiServiceFiles.Service)

    /// What stays the same while it changes.
    var id: String {
        switch self {
        case .registration(let status): status.id
        case .file(let service): "\(service.path) \(service.offered.instance)"
        }
    }

    static var header: Record {
        var record = Record()
        let titles = [("STATE", 11), ("NAME", 24), ("TYPE", 16), ("PORT", 5), ("ORIGIN", 13), ("REMARKS", 0)]
        for (title, width) in titles { record.add(title, width: width) }
        return record
    }

    func record(_ terminal: Terminal) -> String {
        switch self {
        case .registration(let status): Self.record(status, terminal)
        case .file(let service): Self.record(service, terminal)
        }
    }

    static func record(_ status: RegistrationStatus, _ terminal: Terminal) -> String {
        var record = Record()
        record.add(status.state.rawValue, width: 11, colour: status.state == .established ? .green : .yellow)
        record.add(status.name, width: 24)
        record.add(safe: status.isAddressRecord ? "address" : status.type, width: 16)
        record.add(status.isAddressRecord ? "" : "\(status.port)", width: 5)
        record.add(status.origin.rawValue, width: 13)
        let remark = status.name == status.wanted ? "" : "wanted \"\(status.wanted)\""
        record.add(status.isAddressRecord ? status.addresses.joined(separator: ",") : remark, width: 0)
        record.add(status.reason ?? status.warning ?? "", width: 0)
        return record.line(for: terminal)
    }

    /// Whether avahi-daemon has published it is not known here.
    private static func record(_ service: AvahiServiceFiles.Service, _ terminal: Terminal) -> String {
        var record = Record()
        record.add("file", width: 11)
        record.add(service.offered.name.text, width: 24)
        record.add(safe: service.offered.type, width: 16)
        record.add("\(service.offered.port)", width: 5)
        record.add("avahi-daemon", width: 13)
        record.add("", width: 0)
        record.add(service.path, width: 0)
        return record.line(for: terminal)
    }
}

extension JSONWriter {
    /// Writes the members of what is listed.
    mutating func members(_ offer: ListedOffer) {
        switch offer {
        case .registration(let status): registrationMembers(status)
        case .file(let service):
            member("name", service.offered.name.text)
            member("type", service.offered.type.description)
            member("domain", service.offered.domain.text)
            member("port", Int(service.offered.port.rawValue))
            if let host = service.offered.host { member("host", host.name.text) }
            member("state", "file")
            member("origin", "avahi-daemon")
            member("path", service.path)
        }
    }
}
#endif
