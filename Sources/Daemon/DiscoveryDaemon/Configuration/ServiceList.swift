internal import DNSSD

/// The services of all files; no two are the same.
struct ServiceList {
    let hostName: String
    private(set) var definitions: [ServiceDefinition] = []
    private var places: [ServiceInstance: String] = [:]

    init(hostName: String) { self.hostName = hostName }

    /// Reads a file of `services.d`: one service, or several under `services:`.
    mutating func read(dropIn root: YAMLValue) throws(ConfigurationError) {
        let isList = try YAMLMapping.entries(of: root).contains { $0.key.text == "services" }
        guard isList else { return try add(root) }
        let mapping = try YAMLMapping(root, keys: ["services"])
        if let list = mapping["services"] { try read(list: list) }
    }

    /// Reads a list of services.
    mutating func read(list: YAMLValue) throws(ConfigurationError) {
        for entry in try list.list(atMost: DaemonConfiguration.maximumServices) {
            list.faults.reading { () throws(ConfigurationError) in try add(entry) }
        }
    }

    private mutating func add(_ value: YAMLValue) throws(ConfigurationError) {
        let value = value.part(value.node, "the service")
        guard let definition = try ServiceDefinition(value, hostName: hostName) else { return }
        let instance = definition.service.instance
        if let place = places[instance] {
            throw value.error("\(instance.name) of type \(instance.type) is there already: \(place)")
        }
        guard definitions.count < DaemonConfiguration.maximumServices else {
            throw value.error("more than \(DaemonConfiguration.maximumServices) services")
        }
        places[instance] = value.place
        definitions.append(definition)
    }
}
