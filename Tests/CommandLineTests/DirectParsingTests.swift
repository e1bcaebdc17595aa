#if Commands
import ArgumentParser
import Testing

@testable import DiscoverdCommands

/// A command line that names a command is read by that command alone; whatever else it is, the root reads it.
@Suite struct DirectParsingTests {
    @Test(
        arguments: [
            "browse _http._tcp -t", "resolve tony", "connect tony --report", "publish tony 9000", "wait _http._tcp",
            "status", "resolve -- tony", "resolve -- -x _http._tcp", "connect -- tony", "forward -- 0 tony",
            "forward -- tony 0", "wait -- tony", "doctor -- tony", "doctor", "unpublish -- tony",
            "update --txt a=b -- tony", "key pair -- tony", "key list", "setup avahi -- a.service",
            "resolve -- h1.local 10.0.0.1", "query -- h1 A", "browse -- _http._tcp", "browse --types",
            "daemon --help",
        ])
    func commandIsReadDirectly(_ line: String) throws {
        let direct = try #require(DiscoverdCommand.parseDirectly(line.words))
        #expect(line.words.contains(try #require(type(of: direct).configuration.commandName)))
    }

    /// One line alone: in a debug build the root takes half a second for each.
    @Test func theRootReadsTheSame() throws {
        let words = "key pair -- tony".words
        let direct = try #require(DiscoverdCommand.parseDirectly(words))
        #expect(type(of: direct) == type(of: try DiscoverdCommand.parseAsRoot(words)))
    }

    @Test(
        arguments: [
            "", "--version", "--help", "help connect", "conect tony", "connect", "connect --help", "connect -h",
            "connect --version",
            "connect a b c d", "browse --generate-completion-script bash", "browse --help-hidden", "key", "key nosuch",
            "setup",
        ])
    func everythingElseIsTheRoots(_ line: String) {
        #expect(DiscoverdCommand.parseDirectly(line.words) == nil)
    }
}
#endif
