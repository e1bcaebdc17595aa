import DNSSD
import DiscoverySystem
import Glibc
import Testing

@testable import DiscoverdCommands

struct LobbyTests {
    private let listener: Socket

    init() throws {
        let any = SocketAddress(.v4(IPv4Address(bits: 0x7f00_0001)), port: 0)
        listener = Socket(owning: try Sockets.listening(at: any, backlog: 128))
    }

    /// Both ends of a connection from 127.0.0.`last`.
    private func connection(from last: UInt32 = 1) throws -> (caller: Socket, accepted: Socket) {
        let caller = Socket(owning: try Sockets.make(AF_INET, waits: true))
        #expect(SocketAddress(.v4(IPv4Address(bits: 0x7f00_0000 + last)), port: 0).bind(caller.descriptor) == 0)
        let address = SocketAddress(.v4(IPv4Address(bits: 0x7f00_0001)), port: try #require(listener.port).rawValue)
        #expect(address.connect(caller.descriptor) == 0)
        let accepted = accept(listener.descriptor, nil, nil)
        #expect(accepted >= 0)
        return (caller, Socket(owning: accepted))
    }

    private func say(_ bytes: [UInt8], on socket: Socket) {
        #expect(send(socket.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    private func isReadable(_ socket: Socket) -> Bool {
        var item = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) == 1
    }

    /// A record of a handshake, of four bytes.
    private let hello: [UInt8] = [22, 3, 1, 0, 4, 1, 0, 0, 0]

    @Test("part of a first message wakes nobody; the whole of it is left for who reads it")
    func whole() throws {
        let (caller, accepted) = try connection()
        var lobby = Lobby()
        lobby.came(accepted, .now)
        for byte in hello.dropLast() {
            say([byte], on: caller)
            if isReadable(accepted) { lobby.heard(accepted.descriptor, isEnded: false) }
            #expect(!lobby.hasGreeted && !isReadable(accepted))
        }
        say([0], on: caller)
        #expect(isReadable(accepted))
        lobby.heard(accepted.descriptor, isEnded: false)
        #expect(lobby.next() === accepted && lobby.silent.isEmpty && lobby.next() == nil)
        var bytes = [UInt8](repeating: 0, count: 20)
        #expect(recv(accepted.descriptor, &bytes, 20, Int32(MSG_DONTWAIT)) == hello.count)
    }

    @Test("what is not TLS is for others to judge; who ends early or says nothing for 10 s is closed")
    func others() throws {
        var lobby = Lobby()
        let (plain, judged) = try connection()
        say(Array("GET".utf8), on: plain)
        lobby.came(judged, .now)
        #expect(lobby.next() === judged)
        let (early, ended) = try connection()
        say([22], on: early)
        early.endSending()
        lobby.came(ended, .now)
        lobby.heard(ended.descriptor, isEnded: true)
        #expect(lobby.silent.isEmpty && lobby.deadline == nil)
        let start = MonotonicTime.now
        let (_, silent) = try connection()
        lobby.came(silent, start)
        #expect(lobby.deadline == start + .seconds(10) && lobby.expire(start + .seconds(9)) == 0)
        #expect(lobby.expire(start + .seconds(10)) == 1 && lobby.silent.isEmpty)
    }

    @Test("who has said its message stays, however many say nothing, from one address or from many")
    func greeted() throws {
        var lobby = Lobby(limit: 4)
        let (friend, accepted) = try connection(from: 9)
        lobby.came(accepted, .now)
        var callers: [Socket] = []
        for number in 0..<3 {
            let (caller, other) = try connection(from: 2)
            callers.append(caller)
            lobby.came(other, .now)
            #expect(lobby.silent.count == number + 2)
        }
        say(hello, on: friend)
        lobby.heard(accepted.descriptor, isEnded: false)
        for number in 0..<20 {
            let (caller, other) = try connection(from: UInt32(number % 5 + 2))
            callers.append(caller)
            lobby.came(other, .now)
            #expect(lobby.silent.count == 3)
        }
        #expect(lobby.next() === accepted)
    }
}
