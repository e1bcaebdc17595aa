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

    @Test func whereNoDescriptorIsLeftNobodyIsAcceptedUntilTheNextSweep() async throws {
        let path = NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let address = try #require(SocketAddress(unix: Array(path.utf8)))
        let listener = try Sockets.listening(at: address, backlog: 8)
        let waiting = try Sockets.connected(to: address)
        defer {
            for descriptor in [listener, waiting] { close(descriptor) }
            unlink(path)
        }
        let loop = try #require(EventLoop(paused: "test"))
        let (tries, admitted) = (Locked(0), Locked(0))
        let acceptOne: (Int32) -> Int32 = { listener in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            guard number > 1 else {
                errno = EMFILE
                return -1
            }
            return accept(listener, nil, nil)
        }
        let clients = Clients<Int>(loop: loop, ConnectionTable.Limits(), newID: { 1 }, acceptOne: acceptOne)
        clients.listen(listener) { _ in
            admitted.withLock { $0 += 1 }
            return (.user(0), 0)
        }
        let bound = LoopBound(to: loop, clients)
        let isStarted = loop.start()
        try #require(isStarted)
        /// Each wakes the loop once.
        func turn() async {
            await withCheckedContinuation { (turned: CheckedContinuation<Void, Never>) in
                loop.post { turned.resume() }
            }
        }
        while tries.withLock({ $0 }) == 0 { await turn() }
        for _ in 0..<10 { await turn() }
        #expect(tries.withLock { $0 } == 1)
        bound.post { $0.sweep() }
        while admitted.withLock({ $0 }) == 0 { await turn() }
        bound.post { $0.endAll() }
        await withCheckedContinuation { (stopped: CheckedContinuation<Void, Never>) in
            loop.stop { stopped.resume() }
        }
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
