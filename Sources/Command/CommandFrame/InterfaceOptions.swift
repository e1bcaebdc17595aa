#if Commands
public import ArgumentParser
public import DNSSD

/// `--interface`: which interfaces to use.
public struct InterfaceOptions: ParsableArguments, Sendable {
    /// Shell patterns, as given.
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use interfaces that match a shell pattern, or with '!' those that do not: 'en*', '!docker*'. Repeatable.",
            valueName: "pattern"
        ),
        completion: .custom { _, _, _ in ShellCandidates.interfaces() }
    )
    public var interface: [String] = []

    /// The options without any argument.
    public init() {}

    /// Rejects patterns that can match no interface.
    public func validate() throws {
        do {
            _ = try InterfaceFilter(interface)
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The filter that the patterns make.
    /// - Throws: the error of `validate`, for a bad pattern.
    public func filter() throws(DiscoveryError) -> InterfaceFilter { try InterfaceFilter(interface) }
}
#endif
