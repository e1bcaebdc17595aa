internal import DNSSD
internal import Discovery
internal import DiscoveryControl
internal import DiscoveryJSON
internal import DiscoverySystem

extension ControlResponder {
    func healthz(_ peer: SocketPeer) -> ControlAnswer {
        let reasons = health.reasons(inFull: peer.mayKnowAll)
        return .json(reasons.isEmpty ? 200 : 503) { object in
            object.member("status", reasons.isEmpty ? "ok" : "degraded")
            object.member("reasons", reasons)
            object.backend("finder", facts.finder, health.state(of: .finder))
            object.backend(
                "publisher", facts.backend, health.state(of: .publisher), by: facts.publishing(),
                as: facts.machineName())
        }
    }

    func status(_ peer: SocketPeer) async -> ControlAnswer {
        let refusals = await registry.refusals(for: peer)
        let rules = await registry.rules(for: peer)
        let registrations = await registry.statuses.map { $0.shown(to: peer) }
        let exports = await facts.exports()
        let reasons = health.reasons(inFull: peer.mayKnowAll)
        return .json { object in
            object.member("version", facts.version)
            if peer.mayKnowAll { object.member("pid", Int(facts.pid)) }
            object.member("uptimeSeconds", Int((ContinuousClock.now - facts.started).components.seconds))
            if peer.uid != nil { object.member("socket", facts.socket) }
            object.backend("finder", facts.finder, health.state(of: .finder))
            object.backend(
                "publisher", facts.backend, health.state(of: .publisher), by: facts.publishing(),
                as: facts.machineName())
            // What `publisher` was called before.
            object.backend("backend", facts.backend, health.state(of: .publisher))
            object.member("degraded", !reasons.isEmpty)
            object.member("reasons", reasons)
            // What the peer may do: null, or why not.
            object.object("may") { may in
                may.refusal("publish", refusals.publish)
                may.refusal("handOver", refusals.handOver)
                may.array("rules", of: rules) { $0.rule($1) }
            }
            object.array("warm", of: warm.contents.sorted { $0.feed.id < $1.feed.id }) { $0.feed($1) }
            object.array("domains", of: facts.domains()) { $0.domain($1, inFull: peer.uid != nil) }
            if let key = facts.key { object.member("key", key) }
            object.array("exports", of: exports) { $0.export($1, inFull: peer.uid != nil) }
            object.array("labels", of: facts.labels()) { $0.labels($1, inFull: peer.mayKnowAll) }
            object.names(facts.names(), inFull: peer.uid != nil)
            object.array("registrations", of: registrations) { array, status in
                array.object { $0.registrationMembers(status) }
            }
            object.member("clients", clientCount())
            object.object("limits") { limits in
                limits.member("clients", facts.limits.clients)
                limits.member("clientsPerUser", facts.limits.perUser)
                limits.member("clientsOfRoot", facts.limits.forRoot)
                limits.member("queries", OpenQueries.limit)
                limits.member("requestBytes", facts.limits.requestBytes)
                limits.member("watchQueueBytes", facts.limits.watchBytes)
            }
        }
    }

    func targetGroups(_ query: QueryString) async throws(ControlError) -> ControlAnswer {
        try query.allow(QueryString.ofServices.union(["wait"]))
        let request = try ServiceRequest(query)
        let patience = try query.patience()
        let found = await warm.withFeed(request.question) { feed in
            await feed.settled(within: patience)
            return feed.services
        }
        guard let found else { throw Self.full }
        let (local, routes) = (facts.localAddresses(), facts.routes())
        let targets = found.filter(request.asks).compactMap { service in
            service.target(local, routes).map { (service, $0) }
        }
        let pieces = ArrayPieces(elements: targets, opening: "[", closing: "]\n") { target, bytes in
            var writer = JSONWriter()
            writer.targetGroup(target.0, at: target.1)
            bytes += writer.bytes
        }
        return .pieces(status: 200, type: "application/json", pieces)
    }
}

extension JSONWriter {
    mutating func backend(
        _ key: String, _ kind: String, _ state: BackendState?, by actor: String? = nil,
        as host: (name: String, wanted: String)? = nil
    ) {
        self.key(key)
        object { object in
            object.member("kind", kind)
            if let actor { object.member("by", actor) }
            if let host { object.member("host", host.name) }
            if let host, host.wanted != host.name { object.member("wantedHost", host.wanted) }
            object.member("state", state?.stateName ?? "unknown")
            if let reason = state?.reason { object.member("reason", reason) }
        }
    }

    fileprivate mutating func refusal(_ key: String, _ reason: String?) {
        self.key(key)
        if let reason { string(reason) } else { null() }
    }

    fileprivate mutating func rule(_ rule: AccessRules.Rule) {
        object { object in
            if let types = rule.types { object.member("types", types.map(\.description).sorted()) }
            object.member("domains", rule.domains.map(\.text).sorted())
            object.member("hosts", rule.hosts.map(\.text).sorted())
        }
    }

    fileprivate mutating func feed(
        _ row: (question: OpenQueries.Question, feed: QueryFeed, isPinned: Bool, users: Int)
    ) {
        object { object in
            switch row.question {
            case .query(let query):
                object.place(query.interfaces, query.family, query.resolution)
                switch query.target {
                case .type(let type, let domain): object.typeMembers(type, domain)
                case .instance(let instance):
                    object.member("name", instance.name.text)
                    object.typeMembers(instance.type, instance.domain)
                }
            case .all(let domain, let interfaces, let family, let resolution):
                object.place(interfaces, family, resolution)
                object.key("type")
                object.null()
                object.member("domain", domain.text)
            }
            object.member("services", row.feed.count)
            object.member("settled", row.feed.isSettled)
            object.member("configured", row.isPinned)
            object.member("readers", row.users)
        }
    }

    /// What distinguishes queries for one type.
    fileprivate mutating func place(
        _ interfaces: InterfaceFilter,
        _ family: IPAddress.Family?,
        _ resolution: ServiceQuery.Resolution
    ) {
        member("resolve", resolution != .none)
        if let family { member("family", family.rawValue) }
        if !interfaces.patterns.isEmpty { member("interfaces", interfaces.patterns) }
    }

    /// One group of Prometheus' `http_sd`: the service's addresses, with its TXT record as labels.
    fileprivate mutating func targetGroup(_ service: DiscoveredService, at target: String) {
        object { group in
            group.member("targets", [target])
            group.object("labels") { labels in
                labels.member("__meta_dnssd_name", service.instance.name.text)
                labels.member("__meta_dnssd_type", service.instance.type.description)
                labels.member("__meta_dnssd_domain", service.instance.domain.text)
                labels.member("__meta_dnssd_host", service.host?.text ?? "")
                var names: Set<String> = []
                for entry in service.txt.entries {
                    let name = "__meta_dnssd_txt_" + PrometheusText.labelName(entry.key)
                    if let text = entry.text, names.insert(name).inserted { labels.member(name, text) }
                }
            }
        }
    }
}

extension DiscoveredService {
    /// Where to scrape it: one address, for at two it would be scraped twice; nil when it has none that may be dialled, by
    /// the rules for whatever is announced on the network.
    fileprivate func target(_ local: LocalAddresses, _ routes: some RouteLookup) -> String? {
        guard state == .resolved else { return nil }
        let target = endpoints.first { endpoint in
            // Link-local IPv6 addresses need a zone, which Prometheus does not take.
            !(endpoint.address.family == .ipv6 && endpoint.address.isLinkLocal)
                && AddressPolicy().refusal(
                    of: endpoint, in: instance.domain, isOwn: isOwn, local: local, routes: routes) == nil
        }
        return target.map { endpoint in
            endpoint.address.family == .ipv6
                ? "[\(endpoint.address)]:\(endpoint.port)" : "\(endpoint.address):\(endpoint.port)"
        }
    }
}
