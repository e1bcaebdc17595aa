import DNSSD

/// How much of a TXT record avahi-daemon sends: for a record that fits no packet of the link it makes a larger one, but forgets that it
/// subtracts the headers of IP and UDP from that, too (avahi-core/response-sched.c, dns.c). Such a record is probed for and established, and
/// nothing but a line of its log says that it is never sent. Measured with 0.8, to the byte, for both families, with and without subtypes.
enum TextRoom {
    /// IPv6 and UDP, over IPv4 as well; the message's header; and the record's type, class, TTL and length.
    private static let overhead = 48 + 12 + 10
    /// What every link takes: the smallest MTU of IPv6 (RFC 8200 §5) with the longest name.
    static let certain = 1280 - overhead - 255

    /// The longest TXT record of a service that is sent on a link, in bytes.
    static func limit(of instance: ServiceInstance, mtu: Int) -> Int {
        let labels = [Array(instance.name.text.utf8)] + instance.type.labels + instance.domain.labels
        return mtu - overhead - labels.reduce(1) { $0 + $1.count + 1 }
    }

    /// Why a service's TXT record cannot be published on all of these links; nil if it can.
    static func refusal(
        of txt: TXTRecord, _ instance: ServiceInstance, on links: [(interface: NetworkInterface, mtu: Int)]
    ) -> DiscoveryError? {
        guard let narrow = links.min(by: { $0.mtu < $1.mtu }) else { return nil }
        let limit = limit(of: instance, mtu: narrow.mtu)
        guard txt.wireSize > limit else { return nil }
        return DiscoveryError(
            .invalidTXTRecord,
            "the TXT record has \(txt.wireSize) bytes; with this name avahi-daemon sends at most \(limit) on \(narrow.interface.name), whose MTU is \(narrow.mtu)"
        )
    }
}
