import CAvahi
import DNSSD
import Discovery

// The constructors of avahi-client/lookup.h. Each blocks until avahi-daemon replies; `report` is called later.
extension AvahiConnection {
    private typealias TypeText = (type: String, domain: String)
    private typealias ServiceText = (name: String, of: TypeText)

    /// Services of a type, or of one of its subtypes, on every interface.
    func browseServices(
        of type: ServiceType, in domain: Domain, family: IPAddress.Family?,
        report: @escaping (BrowserEvent<ServiceName>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let text = try type.checkedForAvahi().description
        var browsed = BrowsedType(type, in: domain)
        let told: (BrowserEvent<ServiceText>) -> Void = { event in
            let event = event.of { seen, path -> ServiceName? in
                guard path.isOnLink, browsed.includes(type: seen.of.type, domain: seen.of.domain) else { return nil }
                return ServiceName(observed: seen.name)
            }
            if let event { report(event) }
        }
        return try unsafe AvahiLookup(on: self, during: "cannot browse for \(type)", report: told) { client, userdata in
            unsafe avahi_service_browser_new(
                client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(family), text, domain.text,
                AvahiLookupFlags(rawValue: 0),
                { _, interface, proto, event, name, type, domain, flags, userdata in
                    let seen = unsafe (AvahiStrings.text(name), (AvahiStrings.text(type), AvahiStrings.text(domain)))
                    let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                    unsafe LookupListener<BrowserEvent<ServiceText>>.of(userdata)?.report(
                        BrowserEvent(event, seen, path))
                }, userdata)
        } destroy: {
            unsafe avahi_service_browser_free($0)
        }
    }

    /// Service types of a domain.
    func browseTypes(
        in domain: Domain, family: IPAddress.Family?, report: @escaping (BrowserEvent<TypeKey>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let told: (BrowserEvent<TypeText>) -> Void = { event in
            let event = event.of { seen, path -> TypeKey? in
                guard path.isOnLink, let type = ServiceType(observed: seen.type),
                    let domain = Domain(observed: seen.domain)
                else { return nil }
                return TypeKey(type: type, domain: domain)
            }
            if let event { report(event) }
        }
        let what = "cannot browse for types in \(domain)"
        return try unsafe AvahiLookup(on: self, during: what, report: told) { client, userdata in
            unsafe avahi_service_type_browser_new(
                client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(family), domain.text,
                AvahiLookupFlags(rawValue: 0),
                { _, interface, proto, event, type, domain, flags, userdata in
                    let seen = unsafe (AvahiStrings.text(type), AvahiStrings.text(domain))
                    let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                    unsafe LookupListener<BrowserEvent<TypeText>>.of(userdata)?.report(BrowserEvent(event, seen, path))
                }, userdata)
        } destroy: {
            unsafe avahi_service_type_browser_free($0)
        }
    }

    /// Domains that are recommended on a link or configured; the latter are on no link.
    func browseDomains(
        for purpose: DomainQuery.Purpose, report: @escaping (BrowserEvent<Domain>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let kind = purpose == .browsing ? AVAHI_DOMAIN_BROWSER_BROWSE : AVAHI_DOMAIN_BROWSER_REGISTER
        let told: (BrowserEvent<String>) -> Void = { event in
            if let event = event.of({ seen, _ in Domain(observed: seen) }) { report(event) }
        }
        return try unsafe AvahiLookup(on: self, during: "cannot browse for domains", report: told) { client, userdata in
            unsafe avahi_domain_browser_new(
                client, AvahiPath.anyInterface, AvahiPath.avahiProtocol(nil), nil, kind, AvahiLookupFlags(rawValue: 0),
                { _, interface, proto, event, domain, flags, userdata in
                    let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                    let seen = unsafe AvahiStrings.text(domain)
                    unsafe LookupListener<BrowserEvent<String>>.of(userdata)?.report(BrowserEvent(event, seen, path))
                }, userdata)
        } destroy: {
            unsafe avahi_domain_browser_free($0)
        }
    }

    /// A host's addresses of one family on one interface, asked for over both families. Reports the bytes of each
    /// record.
    func browseAddresses(
        of host: HostName, _ family: IPAddress.Family, on interface: NetworkInterface,
        report: @escaping (BrowserEvent<[UInt8]>) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        // Class and types: RFC 1035 §3.2, RFC 3596 §2.1.
        let (internet, record): (UInt16, UInt16) = (1, family == .ipv4 ? 1 : 28)
        return try unsafe AvahiLookup(on: self, during: "cannot look up \(host)", report: report) { client, userdata in
            unsafe avahi_record_browser_new(
                client, AvahiIfIndex(interface.index), AvahiPath.avahiProtocol(nil), host.text, internet, record,
                AvahiLookupFlags(rawValue: 0),
                { _, interface, proto, event, _, _, _, data, size, flags, userdata in
                    let bytes = unsafe data.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: size)) } ?? []
                    let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                    unsafe LookupListener<BrowserEvent<[UInt8]>>.of(userdata)?.report(BrowserEvent(event, bytes, path))
                }, userdata)
        } destroy: {
            unsafe avahi_record_browser_free($0)
        }
    }

    /// SRV and TXT of a service over one family; reports nil if the service does not answer. Addresses are looked up
    /// separately, because a resolver reports only one.
    func resolve(
        _ instance: ServiceInstance, on interface: NetworkInterface, over family: IPAddress.Family,
        report: @escaping (ResolverAnswer?) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let what = "cannot resolve \(instance.name)"
        return try unsafe AvahiLookup(on: self, during: what, report: report) { client, userdata in
            unsafe avahi_service_resolver_new(
                client, AvahiIfIndex(interface.index), AvahiPath.avahiProtocol(family), instance.name.text,
                instance.type.description, instance.domain.text, AvahiProtocol(AVAHI_PROTO_UNSPEC),
                AVAHI_LOOKUP_NO_ADDRESS,
                { _, _, _, event, _, _, _, host, _, port, txt, flags, userdata in
                    let host = unsafe event == AVAHI_RESOLVER_FOUND ? HostName(observed: AvahiStrings.text(host)) : nil
                    let answer = host.map {
                        unsafe ResolverAnswer(
                            host: $0, port: Port(rawValue: port), txt: TXTRecord(strings: AvahiStrings.bytes(of: txt)),
                            isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0)
                    }
                    unsafe LookupListener<ResolverAnswer?>.of(userdata)?.report(answer)
                }, userdata)
        } destroy: {
            unsafe avahi_service_resolver_free($0)
        }
    }
}

/// A resolver's result.
struct ResolverAnswer {
    let host: HostName
    /// Nil for 0.
    let port: Port?
    let txt: TXTRecord
    /// Whether this machine publishes the service.
    let isLocal: Bool
}
