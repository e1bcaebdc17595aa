import CAvahi
import DNSMessage
import DNSSD
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

    /// Why no avahi-daemon can be asked, for people.
    private static let missing =
        "libavahi-client is missing, through which it is asked (apt install libavahi-client3)"

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
        guard let made = unsafe made else {
            guard cavahi_is_installed() else { throw DiscoveryError(.backendUnavailable, Self.missing) }
            throw DiscoveryError.avahi(code, during: "avahi-daemon cannot be reached")
        }
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
    /// Records of a key on one interface, or on every one.
    func browseRecords(
        _ key: RecordKey, on interface: AvahiIfIndex = AvahiPath.anyInterface, over family: IPAddress.Family?,
        report: @escaping (BrowserEvent) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let what = "cannot look up \(key.type) of \(key.name)"
        return try unsafe AvahiLookup(on: self, during: what, report: report) { client, userdata in
            unsafe avahi_record_browser_new(
                client, interface, AvahiPath.avahiProtocol(family), key.name.description, RecordClass.internet.rawValue,
                key.type.rawValue, AvahiLookupFlags(rawValue: 0),
                { _, interface, proto, event, _, _, type, data, size, flags, userdata in
                    let path = AvahiPath(interface: interface, avahiProtocol: proto, flags: flags)
                    let event = BrowserEvent(event, path) {
                        unsafe data.map {
                            let bytes = unsafe Array(UnsafeRawBufferPointer(start: $0, count: size))
                            return RecordData(uncompressed: bytes, of: RecordType(rawValue: type))
                        }
                    }
                    if let event { unsafe LookupListener<BrowserEvent>.of(userdata)?.report(event) }
                }, userdata)
        } destroy: {
            unsafe avahi_record_browser_free($0)
        }
    }

    /// SRV and TXT of a service over one family; a service that does not answer is not reported. Addresses are looked up separately, because a
    /// resolver reports only one.
    func resolve(
        _ service: DomainName, on interface: NetworkInterface, over family: IPAddress.Family,
        report: @escaping (ResolverAnswer) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        let labels = service.labels
        guard labels.count > 3, let name = labels.first.flatMap({ String(validating: $0, as: UTF8.self) }),
            let type = try? DomainName(labels: labels[1...2]), let domain = try? DomainName(labels: labels[3...])
        else { throw DiscoveryError(.invalidServiceName, "\(service) is no name of a service") }
        let what = "cannot resolve \(service)"
        return try unsafe AvahiLookup(on: self, during: what, report: report) { client, userdata in
            unsafe avahi_service_resolver_new(
                client, AvahiIfIndex(interface.index), AvahiPath.avahiProtocol(family), name, type.presentation,
                domain.presentation, AvahiProtocol(AVAHI_PROTO_UNSPEC), AVAHI_LOOKUP_NO_ADDRESS,
                { _, _, _, event, _, _, _, host, _, port, txt, flags, userdata in
                    guard event == AVAHI_RESOLVER_FOUND,
                        let host = unsafe Domain(observed: AvahiStrings.text(host)),
                        let target = DomainName([], in: host),
                        let text = unsafe try? TextStrings.data(of: AvahiStrings.bytes(of: txt))
                    else { return }
                    unsafe LookupListener<ResolverAnswer>.of(userdata)?.report(
                        ResolverAnswer(
                            service: .srv(priority: 0, weight: 0, port: port, target: target), text: .txt(text),
                            isLocal: flags.rawValue & AVAHI_LOOKUP_RESULT_LOCAL.rawValue != 0))
                }, userdata)
        } destroy: {
            unsafe avahi_service_resolver_free($0)
        }
    }

    /// The names that a key's PTR records list on the links of this machine.
    func browseList(
        _ key: RecordKey?, over family: IPAddress.Family?, _ report: @escaping (BrowserEvent) -> Void
    ) throws(DiscoveryError) -> AvahiLookup {
        guard let key else {
            throw DiscoveryError(.invalidDomain, "the name is longer than a domain name can be (RFC 1035 §2.3.4)")
        }
        return try browseRecords(key, over: family, report: report)
    }
}

/// A resolver's result. Avahi tells neither priority nor weight, nor a second SRV record.
struct ResolverAnswer {
    let service: RecordData
    let text: RecordData
    /// Whether this machine publishes the service.
    let isLocal: Bool
}
