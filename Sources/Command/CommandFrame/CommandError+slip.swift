#if Commands
public import ArgumentParser
package import CommandText
internal import DNSSD

extension CommandError {
    /// What is wrong with a command line that the parser refused, where it is an option or a command that does not exist, or what is missing;
    /// nil for all else. The parser often reports what is missing instead of what is wrong.
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - root: the program, with commands at one level.
    public init?<Root: ParsableCommand>(slipIn arguments: [String], of root: Root.Type) {
        let commands = root.configuration.subcommands
        let grammar = CommandLineSlip.Grammar(root._commandName, commands: commands.map { $0._commandName }) { word in
            guard let command = commands.first(where: { $0._commandName == word }) else {
                return root.helpMessage(includeHidden: true, columns: HelpText.unlimited)
            }
            return root.helpMessage(for: command, includeHidden: true, columns: HelpText.unlimited)
        }
        guard let slip = CommandLineSlip.find(in: arguments, grammar) else { return nil }
        self.init(slip)
    }

    /// A slip in a command line, safe for a terminal.
    package init(_ slip: CommandLineSlip) {
        self.init(.usage, slip.message.escapedForTerminal, advice: [slip.advice.escapedForTerminal])
    }
}
#endif
