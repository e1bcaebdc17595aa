public import DNSSD

/// The services that a picker shows, sorted by name. The selection stays on its service while others come and go.
public struct ServiceList: Sendable {
    private var known: [ServiceInstance: DiscoveredService] = [:]
    /// The service that Enter chooses.
    public private(set) var selection: ServiceInstance?
    /// Names that are not shown: this program's own.
    public private(set) var hidden: Set<ServiceName> = []

    /// Creates an empty list.
    public init() {}

    /// The visible services, sorted by name.
    public var services: [DiscoveredService] {
        known.values.filter { !hidden.contains($0.instance.name) }.sorted { $0.instance.name < $1.instance.name }
    }

    /// The selected service.
    public var selected: DiscoveredService? { selection.flatMap { known[$0] } }

    /// Hides these names, and no others.
    public mutating func hide(_ names: Set<ServiceName>) {
        change { $0.hidden = names }
    }

    /// Applies a batch of a browser's events as a single change.
    public mutating func update(_ events: [ServiceEvent]) {
        change { list in
            for event in events {
                switch event {
                case .found(let service), .changed(let service): list.known[service.instance] = service
                case .lost(let service): list.known[service.instance] = nil
                case .settled, .backend, .degraded: continue
                }
            }
        }
    }

    /// Moves the selection by `offset` rows.
    public mutating func move(by offset: Int) {
        let services = services
        guard !services.isEmpty else { return }
        let index = services.firstIndex { $0.instance == selection } ?? 0
        selection = services[min(max(index + offset, 0), services.count - 1)].instance
    }

    /// Selects a visible row.
    public mutating func select(_ index: Int) {
        let services = services
        if services.indices.contains(index) { selection = services[index].instance }
    }

    /// The service that a person's text means: its name, its number (from 1), or an unambiguous prefix of a name.
    public func find(_ text: String) -> DiscoveredService? {
        let services = services
        if let exact = services.first(where: { $0.instance.name.text == text || $0.instance.name.description == text })
        {
            return exact
        }
        if let number = Int(text), services.indices.contains(number - 1) { return services[number - 1] }
        let begun = services.filter { $0.instance.name.text.lowercased().hasPrefix(text.lowercased()) }
        return text.isEmpty || begun.count != 1 ? nil : begun[0]
    }

    /// Changes the list; if the selected service goes, the selection moves to a neighbour.
    private mutating func change(_ body: (inout ServiceList) -> Void) {
        let index = services.firstIndex { $0.instance == selection } ?? 0
        body(&self)
        let services = services
        guard !services.contains(where: { $0.instance == selection }) else { return }
        selection = services.isEmpty ? nil : services[min(index, services.count - 1)].instance
    }
}
