public import DNSSD

/// The services a picker shows: sorted by name, the selection kept on its service while others come and go.
public struct ServiceList: Sendable {
    private var known: [ServiceInstance: DiscoveredService] = [:]
    /// Which one is chosen by Enter.
    public private(set) var selection: ServiceInstance?
    /// Names that are not shown: one's own, as it is published now.
    public private(set) var hidden: Set<ServiceName> = []

    /// An empty list.
    public init() {}

    /// What is shown, sorted by name.
    public var services: [DiscoveredService] {
        known.values.filter { !hidden.contains($0.instance.name) }.sorted { $0.instance.name < $1.instance.name }
    }

    /// The service that is selected.
    public var selected: DiscoveredService? { selection.flatMap { known[$0] } }

    /// Shows all names but these.
    public mutating func hide(_ names: Set<ServiceName>) {
        change { $0.hidden = names }
    }

    /// Takes in what a browser told, as a whole: the list changes once.
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

    /// Selects the next or the one before.
    public mutating func move(by offset: Int) {
        let services = services
        guard !services.isEmpty else { return }
        let index = services.firstIndex { $0.instance == selection } ?? 0
        selection = services[min(max(index + offset, 0), services.count - 1)].instance
    }

    /// Selects a row of what is shown.
    public mutating func select(_ index: Int) {
        let services = services
        if services.indices.contains(index) { selection = services[index].instance }
    }

    /// A service by what a person typed: its name, its number (the first is 1), or the beginning of one name only.
    public func find(_ text: String) -> DiscoveredService? {
        let services = services
        if let exact = services.first(where: { $0.instance.name.value == text || $0.instance.name.description == text })
        {
            return exact
        }
        if let number = Int(text), services.indices.contains(number - 1) { return services[number - 1] }
        let begun = services.filter { $0.instance.name.value.lowercased().hasPrefix(text.lowercased()) }
        return text.isEmpty || begun.count != 1 ? nil : begun[0]
    }

    /// Changes what is shown, and moves the selection to a neighbour when its service went.
    private mutating func change(_ body: (inout ServiceList) -> Void) {
        let index = services.firstIndex { $0.instance == selection } ?? 0
        body(&self)
        let services = services
        guard !services.contains(where: { $0.instance == selection }) else { return }
        selection = services.isEmpty ? nil : services[min(index, services.count - 1)].instance
    }
}
