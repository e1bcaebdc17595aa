package import DNSSD
package import Discovery

/// A link's service as a gateway publishes it: under its own name, on a host whose name is the gateway's.
package struct Export: Hashable, Sendable {
    /// What is published, in the zone or on the other link.
    package var service: OfferedService
    /// The host's name on the link, which never reaches the zone.
    package var linkHost: HostName
    /// The host's addresses on the link, sorted; at least one.
    package var addresses: [IPAddress]
    /// The link, where a rule that mirrors has several: each has its own `printer.local`. Nil for a zone, and for what another site has told.
    package var link: String?
}

/// Why a service of the link is not exported.
package enum ExportRefusal: String, Error, Hashable, CaseIterable {
    /// No pattern takes its name.
    case name
    /// Its name cannot be published: it is empty, has control characters, or is `*`, a zone's wildcard. Or it is not of `local`.
    case unfit
    /// Its host is not of the link, is this machine where that is on both links itself, or came to it by a mirror. Or it has the name of another
    /// link's host, which is mirrored.
    case foreignHost = "foreign-host"
    /// None of its addresses is of the link, or may be dialled.
    case address
    /// No route leads to an address of it where one leads to the peer.
    case route = "no-route"
    /// Its TXT record is longer than 1300 bytes.
    case text
    /// Its host offers it on the other link itself.
    case original
    /// There are 90 of its type already, which is what servers take (docs/beyond-link.md), and its host has its share.
    case tooMany = "too-many"
}

/// Decides whether a service may be exported, and with which addresses. mDNS is not authenticated: nothing that a link says decides
/// anything beyond the sub-domain of that link.
package struct ExportAdmission: Sendable {
    /// The longest TXT record in bytes: with it a service fits in one datagram (RFC 6763 §6.2).
    static let mostText = 1300
    /// Addresses of one host.
    static let mostAddresses = 8

    private let rule: ExportRule
    private let local: LocalAddresses
    private let mayBeDialled: @Sendable (Endpoint, _ isOwn: Bool) -> Bool
    private let isBeyondPeer: @Sendable (IPAddress) -> Bool

    /// - Parameters:
    ///   - local: this machine's networks.
    ///   - isBeyondPeer: whether a route leads to an address where one leads to the peer, if there is a peer.
    ///   - mayBeDialled: the address policy: what nobody here would dial is not for others either.
    package init(
        _ rule: ExportRule, local: LocalAddresses,
        isBeyondPeer: @escaping @Sendable (IPAddress) -> Bool = { _ in true },
        mayBeDialled: @escaping @Sendable (Endpoint, _ isOwn: Bool) -> Bool
    ) {
        self.rule = rule
        self.local = local
        self.isBeyondPeer = isBeyondPeer
        self.mayBeDialled = mayBeDialled
    }

    /// As this machine's addresses and routes are now.
    /// - Parameter peer: the address of the peer, if the services are one's and it was reached.
    init(_ rule: ExportRule, peer: IPAddress?) {
        let (local, routes) = (LocalAddresses.system(), SystemRoutes())
        let way = peer.flatMap { routes.route(to: $0)?.interface }
        // Of a peer it is as of a DNS server that was named: the address is on no link of this machine.
        let policy = AddressPolicy(namedDomains: [.local])
        self.init(rule, local: local) { address in
            way.map { routes.route(to: address)?.interface == $0 } ?? false
        } mayBeDialled: { endpoint, isOwn in
            policy.refusal(of: endpoint, isOwn: isOwn, local: local, routes: routes) == nil
        }
    }

    /// What a service of the link is elsewhere, if it may be exported.
    /// - Parameter known: what was exported. Of SRV records of several hosts one is taken, because an export has one host;
    ///   whoever adds a record to the name of another's service does not take its place.
    /// - Returns: nil as long as it is not resolved.
    package func judge(
        _ service: DiscoveredService, as export: Export? = nil
    ) -> Result<Export, ExportRefusal>? {
        guard rule.names.allows(service.instance.name) else { return .failure(.name) }
        guard let name = try? ServiceName(service.instance.name.text), service.instance.domain == .local else {
            return .failure(.unfit)
        }
        guard service.state == .resolved, let first = service.host else { return nil }
        let known = export?.linkHost
        let host = service.endpoints.contains { $0.target?.host == known } ? known ?? first : first
        let endpoints = service.endpoints.filter { $0.target == nil || $0.target?.host == host }
        guard let port = endpoints.first?.port ?? service.port else { return nil }
        guard host.text.lowercased().hasSuffix(".local"), !isOfOtherLink(service) else {
            return .failure(.foreignHost)
        }
        guard service.txt.wireSize <= Self.mostText else { return .failure(.text) }
        var fit = endpoints.filter { isOfSource($0, service.isOwn) }
        guard !fit.isEmpty else { return .failure(.address) }
        let links = fit.compactMap(\.interface?.name)
        let link = hasOneLink ? links.first { $0 == export?.link } ?? links.min() : nil
        if let link { fit.removeAll { $0.interface?.name != link } }
        let addresses = Set(fit.map(\.address)).filter(isBeyond).sorted()
        guard !addresses.isEmpty else { return .failure(.route) }
        let offered = OfferedService(
            name: name, type: service.instance.type.base, domain: rule.domain, port: port, txt: service.txt,
            subtypes: rule.subtypes(of: service))
        guard offered.wildcardFault == nil else { return .failure(.unfit) }
        return .success(
            Export(
                service: offered, linkHost: host, addresses: Array(addresses.prefix(Self.mostAddresses)), link: link))
    }

    /// Names of services and hosts are a link's own: what is mirrored is of one.
    private var hasOneLink: Bool {
        switch (rule.source, rule.destination) {
        case (.peer, _), (_, .zone): false
        case (.links, _): true
        }
    }

    /// What this machine publishes on the link, where the other link has it, too, or a mirror has brought it.
    private func isOfOtherLink(_ service: DiscoveredService) -> Bool {
        guard case .links = rule.source, service.isOwn else { return false }
        return switch rule.destination {
        case .zone: false
        case .links: true
        case .peers: !service.endpoints.allSatisfy { local.isOwn($0.address) }
        }
    }

    /// Whether an address is where the services are.
    private func isOfSource(_ endpoint: Endpoint, _ isOwn: Bool) -> Bool {
        guard case .peer = rule.source else { return isOfLink(endpoint, isOwn) }
        // What a peer says of interfaces is about its own.
        let place = Endpoint(address: endpoint.address, port: endpoint.port, interface: nil)
        return mayBeDialled(place, false) && !local.isOnAnyLink(endpoint.address)
    }

    private func isBeyond(_ address: IPAddress) -> Bool {
        guard case .peer = rule.source else { return true }
        return isBeyondPeer(address)
    }

    private func isOfLink(_ endpoint: Endpoint, _ isOwn: Bool) -> Bool {
        guard let interface = endpoint.interface, rule.interfaces.allows(interface.name) else { return false }
        // A link that both patterns name has the service already.
        if case .links(let links) = rule.destination, links.interfaces.allows(interface.name) { return false }
        let address = endpoint.address
        return !address.isLinkLocal && !address.isLoopback && local.isOnLink(address, interface)
            && mayBeDialled(endpoint, isOwn)
    }
}

extension LocalAddresses {
    fileprivate func isOnAnyLink(_ address: IPAddress) -> Bool {
        Set(entries.map(\.interface)).contains { isOnLink(address, $0) }
    }
}

extension Route {
    /// The interface by which packets leave; nil where they do not.
    fileprivate var interface: UInt32? { if case .leaves(let interface, _) = self { interface } else { nil } }
}
