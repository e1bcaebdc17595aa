import ArgumentParser
import CommandText
import Foundation
import Testing

@testable import DiscoverdCommands

/// discoverd(1) has every option of every command: where the command is described, in its synopsis, or in a section for several.
struct ManualTests {
    /// The manual's lines without what stands between macros.
    private static let page: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try? String(contentsOf: root.appending(path: "docs/man/discoverd.1"), encoding: .utf8)
        return (text ?? "").replacing("\\-", with: "-").split(separator: "\n").map(String.init)
    }()

    /// The lines of a section.
    private func section(_ name: String) -> ArraySlice<String> {
        let after = Self.page.drop { $0 != ".Sh \(name)" }.dropFirst()
        return after.prefix { !$0.hasPrefix(".Sh ") }
    }

    /// The lines from one that begins with `mark` and the command to the next that begins so with another.
    private func parts(_ lines: ArraySlice<String>, of command: String, _ mark: String) -> [String] {
        let names = Self.commands.map(\.name)
        var found: [String] = []
        var isMine = false
        for line in lines {
            if line.hasPrefix(mark) {
                let words = line.dropFirst(mark.count).split(separator: " ").prefix(2).joined(separator: " ")
                if let name = names.first(where: { words == $0 || words.hasPrefix($0 + " ") }) {
                    isMine = name == command
                }
            }
            if isMine { found.append(line) }
        }
        return found
    }

    @Test("It tells no truth of an earlier edition")
    func claims() {
        let text = Self.page.joined(separator: " ")
        #expect(!text.contains("orks through"))
        // A goodbye is told after 1.3 s on the links, after 4.2 through avahi-daemon's cache.
        for range in text.ranges(of: "4.2 s") {
            let before = text[..<range.lowerBound].suffix(60)
            #expect(before.contains("finder Cm avahi"), "\(before)")
        }
    }

    private func options(_ command: any ParsableCommand.Type) -> Set<String> {
        let help = DiscoverdCommand.helpMessage(for: command, columns: HelpText.unlimited)
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        return Set(
            lines.flatMap { $0.split(separator: " ", maxSplits: 12).prefix(4) }.filter { $0.hasPrefix("--") }
                .map { String($0.dropFirst(2).prefix { $0.isLetter || $0.isNumber || $0 == "-" }) })
    }

    /// A command with a page's place for its options: `key add` has its own.
    private static let commands = DiscoverdCommand.commands.flatMap { command in
        let name = command.configuration.commandName ?? ""
        let nested = command.configuration.subcommands.map { ("\(name) \($0.configuration.commandName ?? "")", $0) }
        return nested.isEmpty ? [(name: name, type: command)] : nested.map { (name: $0.0, type: $0.1) }
    }

    @Test("every option", arguments: commands.map(\.name))
    func complete(_ name: String) throws {
        let command = try #require(Self.commands.first { $0.name == name }?.type)
        let shared = ["TLS", "COMMON OPTIONS", "OUTPUT"].flatMap { section($0) }
        let own =
            parts(section("SYNOPSIS"), of: name, ".Cm ") + parts(section("COMMANDS"), of: name, ".It Cm ")
        let text = (shared + own).joined(separator: "\n")
        for option in options(command).subtracting(["help", "version"]).sorted() {
            #expect(text.contains("-\(option)"), "discoverd(1) does not have --\(option) of \(name)")
        }
    }
}
