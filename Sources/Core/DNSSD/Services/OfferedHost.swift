/// The machine that a service to publish is on, where that is not this one: a printer, say, that cannot speak for itself.
public struct OfferedHost: Hashable, Sendable {
    /// The most addresses of a host.
    public static let maximumAddressCount = 16

    /// The host's name, to which the service's SRV record points.
    public let name: HostName
    /// The addresses that are published for the name, without names for the addresses; none where the host, or another, answers for it.
    public let addresses: [IPAddress]

    /// Checks a host.
    /// - Throws: `.invalidHostName` if there are addresses and the name is not of `local`, as only there this machine may answer for it (RFC
    ///   6762 §3); `.invalidAddress` for one that no other host can reach, as `127.0.0.1`; `.limitExceeded` for more than 16.
    public init(name: HostName, addresses: [IPAddress] = []) throws(DiscoveryError) {
        guard addresses.count <= Self.maximumAddressCount else {
            throw DiscoveryError(.limitExceeded, "a host has at most \(Self.maximumAddressCount) addresses here")
        }
        guard addresses.isEmpty || name.isLocal else {
            throw DiscoveryError(.invalidHostName, "\(name) is not of \"local\": no address can be published for it")
        }
        for address in addresses where !address.isOfOneHost {
            throw DiscoveryError(.invalidAddress, "\(address) is no address at which other hosts find one")
        }
        self.name = name
        self.addresses = addresses
    }
}

extension HostName {
    /// Whether the name is one label and `local`.
    fileprivate var isLocal: Bool {
        guard let labels = DNSName(observed: text)?.labels else { return false }
        return labels.count == 2 && labels[1].lowercased() == "local"
    }
}

extension IPAddress {
    /// An address of one interface, as others see it.
    fileprivate var isOfOneHost: Bool { !(isUnspecified || isLoopback || isMulticast || isBroadcast || isIPv4Mapped) }
}
