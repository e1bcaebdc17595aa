import DNSSD
import DiscoveryDaemon
import DiscoverySystem
import Foundation
import Glibc
import Testing

@testable import LocalNames

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

    /// The directory of libnss-mdns' socket is avahi's, and the daemon may be root.
    @Test func aLinkInTheSocketsPlaceIsNotFollowed() throws {
        let path = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let (file, link, socket) = (path + "-file", path + "-link", path + "-socket")
        let descriptor = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        let listener = try Sockets.listening(at: try #require(SocketAddress(unix: Array(socket.utf8))), backlog: 1)
        defer {
            for descriptor in [descriptor, listener] { close(descriptor) }
            for path in [file, link, socket] { unlink(path) }
        }
        let isLinked = symlink(file, link) == 0
        #expect(isLinked && !NSSPlace.admitAll(link) && NSSPlace.admitAll(socket))
        var info = stat()
        let isThere = fstat(descriptor, &info) == 0
        #expect(isThere && info.st_mode & 0o777 == 0o600)
        let hasSocket = lstat(socket, &info) == 0
        #expect(hasSocket && info.st_mode & 0o777 == 0o666)
    }
}
