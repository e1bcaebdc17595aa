import CAvahi
import DNSSD
import Discovery
import DiscoverySystem

/// One `AvahiClient`: a connection to avahi-daemon over the system bus. Used only on the loop's thread.
///
/// A failed connection stays dead and is replaced by a new one. Closing it frees every object made with it (avahi-client/client.h), so
/// owners of browsers and the like check `isOpen` before they free.
@safe final class AvahiConnection {
    /// avahi-client/client.h, `AvahiClientState`.
    enum State: Equatable {
        /// Waiting for avahi-daemon to appear on the bus.
        case connecting
        /// Browsing works; publishing does not yet, because the host's own name is being registered or is taken.
        case registering
        /// Everything works.
        case running
        /// Dead.
        case failed(DiscoveryError)
    }

    let loop: EventLoop
    private let poll: AvahiPollOnLoop
    private(set) var pointer: OpaquePointer?
    private var state: State = .connecting
    private var stateChanged: ((State) -> Void)?
    /// Objects that the daemon holds for this client; it limits their number (`objects-per-client-max`).
    var objectCount = 0

    var isOpen: Bool { unsafe pointer != nil }

    /// Connects; blocks for up to 25 s while D-Bus or avahi-daemon do not answer. `stateChanged` is never called from here.
    init(loop: EventLoop, stateChanged: @escaping (State) -> Void) throws(DiscoveryError) {
        self.loop = loop
        poll = AvahiPollOnLoop(loop)
        var code: Int32 = 0
        let made = unsafe avahi_client_new(
            poll.poll, AVAHI_CLIENT_NO_FAIL,
            { client, state, userdata in
                guard let userdata = unsafe userdata else { return }
                let connection = unsafe Unmanaged<AvahiConnection>.fromOpaque(userdata).takeUnretainedValue()
                unsafe connection.changed(to: state, client: client)
            }, Unmanaged.passUnretained(self).toOpaque(), &code)
        guard let made = unsafe made else { throw DiscoveryError.avahi(code, during: "avahi-daemon cannot be reached") }
        unsafe pointer = made
        // The first states arrived within avahi_client_new, before there was a client to use.
        self.stateChanged = stateChanged
    }

    /// The state when the connection was made; `stateChanged` reports later ones.
    var currentState: State { state }

    private func changed(to new: AvahiClientState, client: OpaquePointer?) {
        switch new {
        case AVAHI_CLIENT_S_RUNNING: state = .running
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: state = .registering
        case AVAHI_CLIENT_CONNECTING: state = .connecting
        default:
            let code = unsafe client.map { unsafe avahi_client_errno($0) } ?? Int32(AVAHI_ERR_DISCONNECTED)
            state = .failed(.avahi(code, during: "avahi-daemon went away"))
        }
        stateChanged?(state)
    }

    /// The error of the call that just returned NULL or a negative number; meaningless at any other time.
    func lastError(during what: String) -> DiscoveryError {
        guard let pointer = unsafe pointer else { return DiscoveryError(.backendUnavailable, what) }
        return .avahi(unsafe avahi_client_errno(pointer), during: what)
    }

    /// The name of this machine's host, to which SRV records point; nil where avahi-daemon does not say.
    var hostName: HostName? {
        guard let client = unsafe pointer else { return nil }
        let text = unsafe AvahiStrings.text(avahi_client_get_host_name_fqdn(client))
        return HostName(observed: text)
    }

    /// Makes a harmless call that avahi-daemon itself must answer; the client answers others from memory.
    func probe() {
        guard let client = unsafe pointer else { return }
        let group = unsafe avahi_entry_group_new(client, nil, nil)
        if let group = unsafe group { unsafe _ = avahi_entry_group_free(group) }
    }

    /// Frees the client and every object made with it. Must not run within the client's own callback: the loop calls it from the top.
    func close() {
        guard let client = unsafe pointer else { return }
        stateChanged = nil
        unsafe pointer = nil
        unsafe avahi_client_free(client)
        objectCount = 0
    }

    deinit { close() }
}

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

/// Filters a browser's reports: accepts services of the type in the domain that were asked for. A value.
///
/// A PTR record can point to another type, another domain or the type itself, and avahi-daemon reports all of them.
struct BrowsedType {
    private let type: ServiceType
    private let domain: Domain
    /// The spelling accepted last, which thousands of services share: one comparison is enough for each.
    private var accepted: (type: String, domain: String)?

    init(_ type: ServiceType, in domain: Domain) {
        self.type = type.base
        self.domain = domain
    }

    mutating func includes(type: String, domain: String) -> Bool {
        if let accepted, accepted == (type, domain) { return true }
        guard ServiceType(observed: type) == self.type, Domain(observed: domain) == self.domain else { return false }
        accepted = (type, domain)
        return true
    }
}
