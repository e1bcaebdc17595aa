import DNSSD
import DiscoverySystem
import Glibc
import Testing

@testable import AvahiEngine

@Suite struct BackendDirectoryTests {
    @Test func isOursAloneAndGoneWithAllThatIsInIt() throws {
        let directory = BackendDirectory(path: try BackendDirectory.choosePath())
        #expect(directory.socket.utf8.count < 108)
        #expect(access(directory.path, F_OK) != 0, "made only when it is needed")
        try directory.make()
        var status = stat()
        try #require(lstat(directory.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o700)
        #expect(status.st_uid == geteuid())
        try directory.write("text", to: "dbus.conf")
        #expect(SystemFile.text(of: directory.path + "/dbus.conf") == "text")
        directory.remove()
        #expect(access(directory.path, F_OK) != 0)
    }

    @Test func twoDifferInName() throws {
        let names = try (0..<10).map { _ in try BackendDirectory.choosePath() }
        #expect(Set(names).count == 10)
    }

    /// A file that someone else put there is neither used nor removed.
    @Test func refusesWhatItDidNotMake() throws {
        let directory = BackendDirectory(path: try BackendDirectory.choosePath())
        try #require(mkdir(directory.path, 0o700) == 0)
        defer { rmdir(directory.path) }
        #expect(throws: DiscoveryError.self) { try directory.make() }
        directory.remove()
        #expect(access(directory.path, F_OK) == 0)
    }

    @Test func doesNotFollowALinkInThePlaceOfAFile() throws {
        let directory = BackendDirectory(path: try BackendDirectory.choosePath())
        try directory.make()
        defer { directory.remove() }
        try #require(symlink("/dev/null", directory.path + "/dbus.conf") == 0)
        #expect(throws: DiscoveryError.self) { try directory.write("text", to: "dbus.conf") }
    }
}
