#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import DiscoverySystem

/// Where to look or publish.
struct NetworkOptions: ParsableArguments {
    @OptionGroup var interface: InterfaceOptions

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use IPv4 only.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use IPv6 only.")
    var ipv6 = false

    func validate() throws {
        if ipv4 && ipv6 { throw ValidationError("-4 and -6 exclude each other; without them both are used.") }
    }

    /// The chosen interfaces.
    func interfaces() throws -> InterfaceFilter { try interface.filter() }

    /// How many links are asked: of the chosen interfaces, and of those with an address of the chosen family. Not `lo`, unless it is all
    /// there is.
    func linkCount() throws -> Int {
        SystemInterfaces.usable(by: try interfaces()).count { interface, families in
            interface.name != "lo" && families.contains { family == nil || $0 == family }
        }
    }

    /// The chosen address family; nil for both.
    var family: IPAddress.Family? { ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil }
}
#endif
