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

    private func parts(_ lines: ArraySlice<String>, of command: String) -> [String] {
        var found: [String] = []
        var isMine = false
        for line in lines {
            // A command begins with a line of its own; options within its description are items of options.
            if line.hasPrefix(".It Cm ") || line.hasPrefix(".Cm ") {
                let names = DiscoverdCommand.configuration.subcommands.compactMap(\.configuration.commandName)
                let word =
                    line.split(separator: " ").dropFirst(line.hasPrefix(".It") ? 2 : 1).first.map(String.init) ?? ""
                if line.hasPrefix(".It") ? names.contains(word) : names.contains(word) && !line.contains(",") {
                    isMine = word == command
                }
            }
            if isMine { found.append(line) }
        }
        return found
    }

    private func options(_ command: any ParsableCommand.Type) -> Set<String> {
        let help = DiscoverdCommand.helpMessage(for: command, columns: HelpText.unlimited)
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        return Set(
            lines.flatMap { $0.split(separator: " ", maxSplits: 12).prefix(4) }.filter { $0.hasPrefix("--") }
                .map { String($0.dropFirst(2).prefix { $0.isLetter || $0 == "-" }) })
    }

    @Test("every option", arguments: DiscoverdCommand.configuration.subcommands.compactMap(\.configuration.commandName))
    func complete(_ name: String) throws {
        let command = try #require(
            DiscoverdCommand.configuration.subcommands.first { $0.configuration.commandName == name })
        let shared = ["TLS", "COMMON OPTIONS", "OUTPUT"].flatMap { section($0) }
        let own = parts(section("SYNOPSIS"), of: name) + parts(section("COMMANDS"), of: name)
        let text = (shared + own).joined(separator: "\n")
        for option in options(command).subtracting(["help", "version"]).sorted() {
            #expect(text.contains("-\(option)"), "discoverd(1) does not have --\(option) of \(name)")
        }
    }
}
