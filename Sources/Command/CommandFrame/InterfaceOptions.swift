#if Commands
public import ArgumentParser
import CommandText
public import DNSSD
import DiscoverySystem
#endif

#if Commands
/// `--interface`: which interfaces to use.
public struct InterfaceOptions: ParsableArguments, Sendable {
    /// Shell patterns, as given.
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Use interfaces that match a shell pattern, or with '!' those that do not: 'en*', '!docker*'. Repeatable.",
            valueName: "pattern"), completion: .custom { _, _, _ in ShellCandidates.interfaces() })
    public var interface: [String] = []

    /// The options without any argument.
    public init() {}

    /// Rejects patterns that can match no interface.
    public func validate() throws {
        try Parsing.validate { _ = try filter() }
    }

    /// The filter that the patterns make.
    /// - Throws: the error of `validate`, for a bad pattern.
    public func filter() throws(DiscoveryError) -> InterfaceFilter { try InterfaceFilter(interface) }
}
#endif

/// `--backend`: what publishes.
public enum BackendChoice: String, CaseIterable, Sendable {
    /// The system's avahi-daemon if it answers, else the program itself.
    case auto
    /// The host's avahi-daemon.
    case system
    /// The program itself, on the wire.
    case wire

    /// Reads a value; `private` is what `wire` was called before.
    public init?(rawValue: String) {
        let name = rawValue == "private" ? "wire" : rawValue
        guard let choice = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
        self = choice
    }
}

#if Commands
extension BackendChoice: ExpressibleByArgument {}
#endif

#if Commands
/// Values that a shell offers when a person presses Tab. What others chose, as names on the network are, can run nothing there.
public enum ShellCandidates {
    /// A shell takes a moment to show more, and a person longer to read it.
    private static let limit = 1000

    /// The values as the shell that asks takes them; none without a shell.
    public static func list(_ values: some Sequence<String>) -> [String] {
        guard let shell = CompletionShell.requesting else { return [] }
        return Array(values.lazy.compactMap { candidate($0, for: shell) }.prefix(limit))
    }

    /// - Returns: nil for a value that is not offered: it cannot be shown as it is, would be an option, or means something even in quotes.
    package static func candidate(_ value: String, for shell: CompletionShell) -> String? {
        guard !value.isEmpty, !value.hasPrefix("-"), !value.needsTerminalEscaping else { return nil }
        switch shell {
        case .bash:
            // compgen -W expands its words as a command line: `$(…)` would run. It takes the quotes away. What readline inserts it quotes, but for
            // `$` and backquotes, which would run too (seen with bash 5.2), and history expansions.
            guard !value.contains(where: { "$`!".contains($0) }), !value.hasPrefix("~") else { return nil }
            let parts = value.split(separator: "'", omittingEmptySubsequences: false)
            return "'\(parts.joined(separator: #"'\''"#))'"
        case .zsh:
            // _describe takes `VALUE:DESCRIPTION`; compadd quotes what it inserts.
            return value.map { $0 == "\\" || $0 == ":" ? "\\\($0)" : String($0) }.joined()
        case .fish:
            // Up to a tab; fish quotes what it inserts.
            return value
        default: return nil
        }
    }

    /// The interfaces of this machine.
    package static func interfaces() -> [String] {
        var names: [String] = []
        for address in InterfaceAddress.all() ?? [] where !names.contains(address.interface.name) {
            names.append(address.interface.name)
        }
        return list(names)
    }
}
#endif
