#if Commands
internal import AvahiEngine
internal import CommandText
internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

/// The lists of avahi-daemon and of discoverd's daemon: what no one answers for may still be there.
enum ListedServices {
    /// Cached services are reported at once.
    private static let limit = Duration.milliseconds(1200)

    /// A service of a name, of whatever type.
    static func find(
        _ word: String, on interfaces: InterfaceFilter, over family: IPAddress.Family?
    ) async -> ServiceInstance? {
        async let byAvahi = ofAvahi(named: word, interfaces, family)
        let byDaemon = await ofDaemon(named: word, nil, interfaces, family)
        return await byAvahi ?? byDaemon.first
    }

    /// Whether the daemon has a service.
    static func daemonHas(
        _ instance: ServiceInstance, on interfaces: InterfaceFilter, over family: IPAddress.Family?
    ) async -> Bool {
        await ofDaemon(named: instance.name.text, instance.type, interfaces, family).contains(instance)
    }

    private static func ofDaemon(
        named name: String, _ type: ServiceType?, _ interfaces: InterfaceFilter, _ family: IPAddress.Family?
    ) async -> [ServiceInstance] {
        let found = Task.detached {
            ControlClient.find(ControlSocketPath.candidates(explicit: nil), within: .milliseconds(300))
        }
        guard let daemon = await found.value.daemon else { return [] }
        var query = QueryString()
        query.add("name", name)
        query.add("resolve", "0")
        query.add("wait", "0.3")
        if let type {
            query.add("type", type.description)
            query.add("observed", "1")
        }
        for pattern in interfaces.patterns { query.add("interface", pattern) }
        if let family { query.add("family", family.rawValue) }
        let request = ControlClient.Request("GET", "/v1/services?\(query.text)")
        guard let answer = try? await daemon.send(request, within: limit), let json = try? JSONReader.read(answer)
        else {
            return []
        }
        return (json["services"]?.array ?? []).compactMap { service in
            guard let name = service["name"]?.string, let text = service["type"]?.string,
                let type = ServiceType(observed: text)
            else { return nil }
            return ServiceInstance(name: ServiceName(observed: name), type: type)
        }
    }

    private static func ofAvahi(
        named word: String, _ interfaces: InterfaceFilter, _ family: IPAddress.Family?
    ) async -> ServiceInstance? {
        guard SystemResponder.all.contains(where: \.isAvahi), let engine = try? AvahiEngine() else { return nil }
        let network = LocalNetwork(engine: engine)
        // avahi-daemon knows the services of a type that it was asked for, and not therefore the type.
        let types = KnownType.all.compactMap { try? ServiceType(named: $0.type) }
        let lists =
            [network.browseAll(in: .local, on: interfaces, over: family, resolution: .none)]
            + types.map { network.browse($0, on: interfaces, over: family, resolution: .none) }
        let found = await withTimeLimit(limit) {
            await withTaskGroup(of: ServiceInstance?.self) { group in
                for list in lists { group.addTask { await first(named: word, in: list) } }
                for await found in group where found != nil {
                    group.cancelAll()
                    return found
                }
                return nil
            }
        }
        await network.shutdown()
        return found
    }

    private static func first(named word: String, in list: ServiceEvents) async -> ServiceInstance? {
        var events = list.makeAsyncIterator()
        while !Task.isCancelled, let event = try? await events.next() {
            switch event {
            case .found(let service) where service.instance.name.text.lowercased() == word.lowercased():
                return service.instance
            case .settled: return nil
            default: break
            }
        }
        return nil
    }
}
#endif
