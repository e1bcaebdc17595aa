/// One place where a service can be dialled: address, port and the interface on which it was learned.
public struct Endpoint: Hashable, Sendable {
    /// The address, with scope where it needs one.
    public let address: IPAddress
    /// The port.
    public let port: Port
    /// The interface on which the service was seen with this address.
    public let interface: NetworkInterface

    /// Creates an endpoint.
    public init(address: IPAddress, port: Port, interface: NetworkInterface) {
        self.address = address
        self.port = port
        self.interface = interface
    }
}
