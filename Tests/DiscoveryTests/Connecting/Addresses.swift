import DNSSD
import Discovery
import Testing

let wlan0 = NetworkInterface(index: 3, name: "wlan0")

/// Parses an address; `%2` is a scope.
func parsed(_ text: String) throws -> IPAddress { try #require(IPAddress(text), "\(text)") }

/// An endpoint at port 9000.
func endpoint(_ text: String, on interface: NetworkInterface = eth0) throws -> Endpoint {
    Endpoint(address: try parsed(text), port: try Port(9000), interface: interface)
}

func entry(_ text: String, _ length: Int, on interface: NetworkInterface = eth0) throws -> LocalAddresses.Entry {
    LocalAddresses.Entry(interface: interface, address: try parsed(text), prefixLength: length)
}

/// A machine with loopback and one link, with a private, a link-local and a global address.
func machine() throws -> LocalAddresses {
    LocalAddresses(
        entries: [
            try entry("127.0.0.1", 8, on: lo), try entry("::1", 128, on: lo), try entry("10.77.0.2", 24),
            try entry("fe80::2%2", 64), try entry("2001:db8:1::2", 64), try entry("198.51.100.2", 29),
        ],
        loopbacks: [lo]
    )
}

/// A machine without routes.
struct NoRoutes: RouteLookup {
    func route(to address: IPAddress) -> Route? { nil }
}

/// Routes as in a kernel: the longest matching prefix wins.
struct RouteTable: RouteLookup {
    let routes: [(prefix: CIDR, route: Route)]

    init(_ routes: (String, Route)...) throws { self.routes = try routes.map { (try CIDR($0.0), $0.1) } }

    func route(to address: IPAddress) -> Route? {
        routes.filter { $0.prefix.contains(address) }.max { $0.prefix.prefixLength < $1.prefix.prefixLength }?.route
    }
}
