#if Commands
internal import CommandFrame
internal import DNSSD

/// What follows the name in `publish`: a service's port, or with --address-record a host's address.
enum PortOrAddress: Hashable, Sendable {
    case port(Port)
    case address(IPAddress)

    init(_ text: String) throws {
        if let address = IPAddress(text) {
            self = .address(address)
        } else if text.contains(where: { ".:".contains($0) }) {
            throw Parsing.Failure("it is no IPv4 or IPv6 address, and no port")
        } else {
            self = .port(try Parsing.port(text))
        }
    }
}

extension HostName {
    /// A name of one label is below `local`.
    static func ofLink(_ text: String) throws(DiscoveryError) -> HostName {
        try HostName(text.contains(".") ? text : text + ".local")
    }
}
#endif
