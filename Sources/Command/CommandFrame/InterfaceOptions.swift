#if Commands
public import ArgumentParser
import CommandText
public import DNSSD
package import DiscoverySystem
#endif

#if Commands
/// `--interface`: which interfaces to use.
public struct InterfaceOptions: ParsableArguments, Sendable {
    /// Shell patterns, as given.
    @Option(name: .long, help: InterfaceOptions.help, completion: InterfaceOptions.completion)
    public var interface: [String] = []

    package static let help = ArgumentHelp(
        "Use interfaces that match a shell pattern, or with '!' those that do not: 'en*', '!docker*'. Repeatable.",
        valueName: "pattern")
    package static let completion = CompletionKind.custom { _, _, _ in ShellCandidates.interfaces() }

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

#if Commands
extension AvahiUse: ExpressibleByArgument {}
extension AvahiUse.Finder: ExpressibleByArgument {}

/// `--avahi`: what part avahi-daemon has.
public struct AvahiOptions: ParsableArguments, Sendable {
    /// As given.
    @Option(name: .customLong("avahi"), help: AvahiOptions.help)
    package var said: AvahiUse?

    /// The same in the word of the version before.
    @Option(name: .customLong("backend"), help: .hidden, transform: AvahiOptions.backend)
    package var old: AvahiUse?

    /// The options without any argument.
    public init() {}

    package init(said: AvahiUse?, old: AvahiUse?) { (self.said, self.old) = (said, old) }

    /// Both spellings do not go together.
    public func validate() throws {
        if said != nil, old != nil { throw ValidationError("--backend is the old name of --avahi: leave it out.") }
    }

    /// What was given, by either name; nil: nothing.
    package var given: AvahiUse? { said ?? old }
    /// What counts.
    package var use: AvahiUse { given ?? .auto }
    /// What to say where the option of the version before was given; nil where it was not.
    public var hint: String? {
        old.map { "'--backend' is now '--avahi \($0.rawValue)'; the old option goes with the next version" }
    }
    /// What publishes, as `LocalNetwork.Backend` names it.
    public var backend: String { use.backend.rawValue }

    package static let help: ArgumentHelp =
        "What avahi-daemon does: publish where it answers (auto, the default), publish always, or nothing (never)."

    package static func backend(_ name: String) throws -> AvahiUse {
        guard let backend = AvahiUse.Backend(named: name) else {
            throw ValidationError("'\(name)' is no value that --backend had. Write --avahi auto, always or never.")
        }
        return AvahiUse(backend)
    }
}
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
        // By bytes, as shells read them: to Swift a quote with a combining mark after it is another character.
        guard let first = value.utf8.first, first != UInt8(ascii: "-"), !value.needsTerminalEscaping else { return nil }
        switch shell {
        case .bash:
            // compgen -W expands its words as a command line: `$(…)` would run. It takes the quotes away. What readline inserts it quotes, but for
            // `$` and backquotes, which would run too (seen with bash 5.2), and history expansions.
            guard first != UInt8(ascii: "~"), !value.utf8.contains(where: { "$`!".utf8.contains($0) }) else {
                return nil
            }
            return value.quotedForPOSIXShell
        case .zsh:
            // _describe takes `VALUE:DESCRIPTION`; compadd quotes what it inserts.
            return value.unicodeScalars.map { $0 == "\\" || $0 == ":" ? "\\\($0)" : String($0) }.joined()
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
