#if Commands
public import ArgumentParser
public import DNSSD

/// `--interface`: which interfaces to use.
public struct InterfaceOptions: ParsableArguments, Sendable {
    /// Shell patterns, as they were given.
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use interfaces that match a shell pattern, or with '!' those that do not: 'en*', '!docker*'. Repeatable.",
            valueName: "pattern"
        )
    )
    public var interface: [String] = []

    /// Options as they are without any argument.
    public init() {}

    /// Refuses patterns that can match no interface.
    public func validate() throws {
        do {
            _ = try InterfaceFilter(interface)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The interfaces.
    /// - Throws: what `validate` tells.
    public func filter() throws(DiscoveryError) -> InterfaceFilter { try InterfaceFilter(interface) }
}
#endif
