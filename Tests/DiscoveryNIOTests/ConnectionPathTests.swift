import DNSSD
import Discovery
import DiscoveryNIO
import Testing

@Suite("The path of a connection, judged")
struct ConnectionPathTests {
    private static let wlan = NetworkInterface(index: 3, name: "wlan0")
    private static let eth = NetworkInterface(index: 2, name: "eth0")
    private static let lo = NetworkInterface(index: 1, name: "lo")
    private static let addresses = [
        (lo, "127.0.0.1", 8), (wlan, "10.0.1.3", 24), (wlan, "fe80::3", 64), (eth, "10.0.2.2", 24),
        (eth, "fe80::2", 64),
    ]

    private struct Table: RouteLookup {
        let interface: UInt32?
        func route(to address: IPAddress) -> Route? { interface.map { .leaves(by: $0, isDirect: false) } }
    }

    private func path(
        from local: String, to remote: String?, by interface: UInt32?, without missing: [String] = [],
        down: [String] = []
    ) throws -> ConnectionPath {
        let entries = try Self.addresses.filter { !missing.contains($0.1) }.map { interface, text, length in
            LocalAddresses.Entry(
                interface: interface, address: try #require(IPAddress(text)).scoped(to: interface), prefixLength: length
            )
        }
        return ConnectionPath(
            from: try #require(IPAddress(local)), to: try remote.map { try #require(IPAddress($0)) },
            LocalAddresses(entries: entries, loopbacks: [Self.lo]), Table(interface: interface),
            isReceiving: { interface, _ in !down.contains(interface.name) })
    }

    @Test("as it began: viable, and nothing is better")
    func unchanged() throws {
        let path = try path(from: "10.0.1.3", to: "192.0.2.1", by: 3)
        #expect(path.interface == Self.wlan && path.isViable && !path.isBetterThere)
    }

    @Test("its address is gone, or its interface has no carrier: not viable")
    func notViable() throws {
        let gone = try path(from: "10.0.1.3", to: "192.0.2.1", by: nil, without: ["10.0.1.3"])
        #expect(gone.interface == nil && !gone.isViable && !gone.isBetterThere)
        let down = try path(from: "10.0.1.3", to: "192.0.2.1", by: nil, down: ["wlan0"])
        #expect(down.interface == Self.wlan && !down.isViable && !down.isBetterThere)
        let other = try path(from: "10.0.1.3", to: "192.0.2.1", by: 2, without: ["10.0.1.3"])
        #expect(!other.isViable && other.isBetterThere)
    }

    @Test("the route leaves by another interface: better, if that has a carrier")
    func better() throws {
        #expect(try path(from: "10.0.1.3", to: "192.0.2.1", by: 2).isBetterThere)
        #expect(try !path(from: "10.0.1.3", to: "192.0.2.1", by: 2, down: ["eth0"]).isBetterThere)
        #expect(try !path(from: "10.0.1.3", to: "192.0.2.1", by: 9).isBetterThere)
        #expect(try !path(from: "10.0.1.3", to: nil, by: 2).isBetterThere)
    }

    @Test("link-local, and to this machine itself: never better; of two equal link-local addresses the scope decides")
    func near() throws {
        let linkLocal = try path(from: "fe80::3%3", to: "fe80::9%3", by: 2)
        #expect(linkLocal.interface == Self.wlan && linkLocal.isViable && !linkLocal.isBetterThere)
        #expect(try path(from: "fe80::3%2", to: "fe80::9%2", by: 2).interface == nil)
        #expect(try !path(from: "127.0.0.1", to: "10.0.2.2", by: 2).isBetterThere)
    }
}

extension IPAddress {
    fileprivate func scoped(to interface: NetworkInterface) -> IPAddress {
        guard case .v6(let address, _) = self, isLinkLocal else { return self }
        return .v6(address, scope: interface.index)
    }
}
