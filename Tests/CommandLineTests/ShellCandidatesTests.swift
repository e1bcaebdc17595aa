#if Commands
import ArgumentParser
import CommandFrame
import Testing

@Suite("values that a shell offers")
struct ShellCandidatesTests {
    @Test(
        "quoted as each shell takes it",
        arguments: [
            ("tony", "'tony'", "tony", "tony"), ("Tony's Mac", #"'Tony'\''s Mac'"#, "Tony's Mac", "Tony's Mac"),
            ("a:b\\c", #"'a:b\c'"#, #"a\:b\\c"#, #"a:b\c"#),
            ("$(id)`id`;id", nil, "$(id)`id`;id", "$(id)`id`;id"),
            ("`id`;id", nil, "`id`;id", "`id`;id"),
            ("a;id|id>(b) & c", "'a;id|id>(b) & c'", "a;id|id>(b) & c", "a;id|id>(b) & c"),
            ("~root", nil, "~root", "~root"),
            ("~\u{308}root", nil, "~\u{308}root", "~\u{308}root"),
            ("a'\u{308}b", "'a'\\''\u{308}b'", "a'\u{308}b", "a'\u{308}b"),
            ("x'\u{308}`\u{308};id;`\u{308}", nil, "x'\u{308}`\u{308};id;`\u{308}", "x'\u{308}`\u{308};id;`\u{308}"),
            ("a:\u{308}b\\\u{308}c", "'a:\u{308}b\\\u{308}c'", "a\\:\u{308}b\\\\\u{308}c", "a:\u{308}b\\\u{308}c"),
            ("東京 🎉", "'東京 🎉'", "東京 🎉", "東京 🎉"),
        ])
    func quoted(_ value: String, _ bash: String?, _ zsh: String, _ fish: String) {
        #expect(ShellCandidates.candidate(value, for: .bash) == bash)
        #expect(ShellCandidates.candidate(value, for: .zsh) == zsh)
        #expect(ShellCandidates.candidate(value, for: .fish) == fish)
    }

    @Test(
        "what would break the line, hide, or be an option is not offered",
        arguments: ["", "-x", "--help", "-\u{308}x", "a\nb", "a\tb", "a\u{1B}[2J", "a\u{202E}b", "a\u{200B}", "a\u{0}"])
    func left(_ value: String) {
        for shell in CompletionShell.allCases { #expect(ShellCandidates.candidate(value, for: shell) == nil) }
    }

    @Test("a history expansion within double quotes is none for bash; without a shell nothing is offered")
    func history() {
        #expect(ShellCandidates.candidate("a!b", for: .bash) == nil)
        #expect(ShellCandidates.candidate("a!b", for: .zsh) == "a!b")
        #expect(ShellCandidates.list(["tony"]).isEmpty)
    }
}
#endif
