#if Commands
internal import DNSMessage
internal import DNSSD
internal import Discovery
internal import MulticastEngine

/// What was seen of a name: on the wire, of avahi-daemon, of connections. A value; `Explanation` says what it means.
struct Evidence {
    /// What avahi-daemon knows of a service.
    struct CachedService: Hashable {
        let interface: NetworkInterface
        let host: HostName
        let port: Port?
    }

    /// An address at which a service can be dialled, or why not.
    struct Destination {
        let endpoint: Endpoint
        let refusal: AddressPolicy.Refusal?
    }

    /// A connection that was tried.
    struct Attempt {
        let endpoint: Endpoint
        let outcome: EstablishmentReport.Outcome
        /// Why it failed; safe for a terminal.
        let reason: String?
        /// The failure is that no way leads to the host.
        var hasNoRoute = false
        let milliseconds: Int64
    }

    var inquiry: NameInquiry
    /// The time was over before all was asked.
    var isCut = false
    /// A signal ended the search.
    var isInterrupted = false
    /// The word that was asked for, where it is no name of anything.
    var unknownWord: String?
    /// The subject is this machine's own name.
    var isOwnHost = false
    /// A program on this machine answers for what it publishes; looked at where no one answers.
    var hasResponder = true
    /// This machine's avahi-daemon, where it runs and answers no question; safe for a terminal.
    var silentResponder: String?
    /// What this machine sends to the group comes back to it; looked at where no one answers.
    var isEchoed = true
    /// The other family, if only one was asked for, and the hosts that answer over it.
    var otherFamily: (family: IPAddress.Family, hosts: [IPAddress])?
    /// discoverd's daemon lists the service; looked at where no one answers.
    var isListedByDaemon = false
    /// What is wrong with the service's key; safe for a terminal.
    var keyDoubt: String?
    /// This machine's addresses, without scopes.
    var ownAddresses: Set<IPAddress> = []
    /// The links that were asked.
    var links: [(interface: NetworkInterface, families: [IPAddress.Family])] = []
    /// Why the system sent nothing, where it sent nothing: the `errno` of each link.
    var refusals: [NetworkInterface: Int32] = [:]
    /// The links on which the group cannot be heard, because UDP port 5353 is not shared, and what holds it; safe for a terminal.
    var deaf: Set<NetworkInterface> = []
    var holders: [String] = []
    /// What else there is, where that was asked.
    var census: NameCensus?
    /// Hosts that answered when they were asked alone.
    var direct: Set<IPAddress> = []
    var cached: Set<CachedService> = []
    var destinations: [Destination] = []
    var attempts: [Attempt] = []
    /// The hosts of whose messages only a part could be read, and why.
    var faults: [IPAddress: MessageError] = [:]

    init(_ inquiry: NameInquiry) { self.inquiry = inquiry }

    var subject: InquirySubject { inquiry.subject }

    /// The subject's name for people, without a final dot; safe for a terminal.
    var name: String {
        if let unknownWord { return unknownWord.escapedForTerminal }
        return switch subject {
        case .service(let instance): instance.fullName
        case .type(let type): type.description
        case .host(let name): name.text
        }
    }

    /// What services say of their host and port.
    var services: [(heard: Heard, host: DomainName, port: UInt16)] {
        guard case .service = subject else { return [] }
        return inquiry.answers.compactMap { heard in
            guard case .srv(_, _, let port, let host) = heard.record.data else { return nil }
            return (heard, host, port)
        }
    }

    /// The hosts that the service names, each once, in the order in which they came.
    var hosts: [DomainName] { services.map(\.host).uniqued() }

    /// This machine publishes it.
    var isOwn: Bool { inquiry.answers.contains { $0.arrival.way == .own } }

    /// The service's TXT record, as one host says it.
    var txt: TXTRecord? {
        for heard in inquiry.records(of: subject.name, [.txt]) {
            guard case .txt(let data) = heard.record.data, let strings = TextStrings.strings(of: data) else { continue }
            return TXTRecord(strings: strings)
        }
        return nil
    }

    /// The endpoints that the service has, each once.
    var endpoints: [Endpoint] {
        services.flatMap { service -> [Endpoint] in
            guard let port = Port(rawValue: service.port) else { return [] }
            return inquiry.records(of: service.host, [.a, .aaaa])
                .filter { $0.arrival.interface == service.heard.arrival.interface }
                .compactMap { heard in
                    IPAddress(heard.record.data, scope: heard.arrival.interface.index).map {
                        Endpoint(address: $0, port: port, interface: heard.arrival.interface)
                    }
                }
        }.uniqued()
    }
}

extension DomainName {
    /// Without the last dot, as people write it; safe for a terminal.
    var text: String { labels.isEmpty ? "." : String(description.dropLast()) }
}
#endif
