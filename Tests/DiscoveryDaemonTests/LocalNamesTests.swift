import DNSSD
import DiscoveryDaemon
import DiscoverySystem
import Foundation
import Glibc
import LocalNames
import Testing

@Suite(.timeLimit(.minutes(1))) struct LocalNamesTests {
    /// The service manager listens whether the daemon can answer or not.
    @Test func whereTheLinksCannotBeAskedWhoAsksIsSentAwayAtOnce() async throws {
        let path = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let address = try #require(SocketAddress(unix: Array(path.utf8)))
        let listener = try Sockets.listening(at: address, backlog: 8)
        defer {
            close(listener)
            unlink(path)
        }
        var sources = LocalNames.Sources()
        sources.nss = [listener]
        let names = LocalNames(
            sources, from: nil, machine: { nil }, aliases: { [] }, DaemonLog(isJournal: false, write: { _ in }))
        for line in ["RESOLVE-HOSTNAME-IPV4 x.local\n", "HELP\n"] {
            let socket = try Sockets.connected(to: address)
            defer { close(socket) }
            let bytes = Array(line.utf8)
            #expect(send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let isAnswered = poll(&entry, 1, 10_000) == 1
            #expect(isAnswered, "nobody takes the connection")
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, 0)
            #expect(count == 0, "an end without a line")
        }
        await names?.stop()
    }
}
