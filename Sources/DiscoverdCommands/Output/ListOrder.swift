#if Commands
internal import ArgumentParser
internal import DNSSD

/// The order of a list of services.
enum ListOrder: String, CaseIterable, ExpressibleByArgument {
    case name, type, host
}

/// The place of a service in an order; two services never have the same.
struct ListKey: Hashable, Comparable {
    private let text: String

    /// People look for a name whatever its case.
    init(_ service: DiscoveredService, by order: ListOrder) {
        let instance = service.instance
        let name = "\(instance.name.text.lowercased())\u{0}\(instance.fullName)"
        text =
            switch order {
            case .name: name
            case .type: "\(instance.type.description.lowercased())\u{0}\(name)"
            case .host: "\(service.host?.description.lowercased() ?? "")\u{0}\(name)"
            }
    }

    /// Byte for byte: as text, two names may be the same to people and differ on the network.
    static func == (one: ListKey, other: ListKey) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: ListKey, other: ListKey) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
#endif
