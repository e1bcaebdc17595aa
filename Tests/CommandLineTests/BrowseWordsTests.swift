#if Commands
import CommandFrame
import Testing

@testable import DiscoverdCommands

/// The short command lines that are not parsed mean what the parser takes them for.
@Suite struct BrowseWordsTests {
    @Test(
        "the last word on JSON counts",
        arguments: ["--json", "--json=2", "--json --json=2", "--json=2 --json", "--json=2 --json --json=2"])
    func json(_ words: String) throws {
        let line = ["browse", "_http._tcp", "-t"] + words.split(separator: " ").map(String.init)
        let parsed = try DiscoverdCommand.parseDirectly(JSONWords.parsed(line))
        let command = try #require(parsed as? BrowseCommand)
        #expect(BrowseWords(line)?.version == command.output.json)
    }

    @Test(
        "what means more, or needs a hint, is parsed",
        arguments: ["http -t", "_http._tcp", "_http._tcp -t -4", "_http._tcp _ipp._tcp -t", "-t", "--all -t", "_ -t"])
    func others(_ words: String) {
        #expect(BrowseWords(["browse"] + words.split(separator: " ").map(String.init)) == nil)
    }
}
#endif
