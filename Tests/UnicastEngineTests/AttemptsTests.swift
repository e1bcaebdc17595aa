import DNSMessage
import DNSSD
import Testing

@testable import UnicastEngine

@Suite("Which server a question goes to next")
struct AttemptsTests {
    static let servers = ["10.0.0.1", "10.0.0.2"].compactMap { text in
        IPAddress(text).flatMap { address in Port(rawValue: 53).map { ServerAddress(address, port: $0) } }
    }
    let one = servers[0]
    let two = servers[1]

    private func attempt(_ server: ServerAddress, _ transport: Attempts.Transport = .udp, edns: Bool = true)
        -> Attempts.Attempt
    { Attempts.Attempt(server: server, transport: transport, edns: edns ? Attempts.edns : nil) }

    private func message(_ code: UInt16 = 0, _ flags: Message.Flags = []) -> Message {
        Message(flags: [.response, flags, Message.Flags(rawValue: code)])
    }

    @Test("Each second the next one is asked, and after 4 s nobody")
    func silence() {
        var attempts = Attempts(servers: Self.servers, limits: .init())
        #expect(attempts.next(at: .zero) == .send(attempt(one)))
        #expect(attempts.deadline == .seconds(1))
        #expect(attempts.next(at: .seconds(1)) == .send(attempt(two)))
        #expect(attempts.next(at: .seconds(2)) == .send(attempt(one)))
        #expect(attempts.next(at: .seconds(3)) == .send(attempt(two)))
        #expect(attempts.deadline == .seconds(4))
        #expect(attempts.next(at: .seconds(4)) == .failed("no answer from 10.0.0.1 and 10.0.0.2 within 4.0 seconds"))
    }

    @Test("An answer to any attempt is one")
    func answer() {
        var attempts = Attempts(servers: Self.servers, limits: .init())
        _ = attempts.next(at: .zero)
        _ = attempts.next(at: .seconds(1))
        for code in [ResponseCode.noError, ResponseCode.noSuchName] {
            let step = attempts.received(message(code), to: attempt(one), at: .milliseconds(1200))
            #expect(step == .done(message(code), one))
        }
    }

    @Test("A truncated answer is fetched over TCP, once; what is lost there is lost")
    func truncated() {
        var attempts = Attempts(servers: [one], limits: .init())
        _ = attempts.next(at: .zero)
        let cut = message(0, .truncated)
        #expect(attempts.received(cut, to: attempt(one), at: .milliseconds(5)) == .send(attempt(one, .tcp)))
        #expect(attempts.deadline == .seconds(4))
        #expect(attempts.received(cut, to: attempt(one), at: .milliseconds(6)) == .wait)
        #expect(attempts.received(message(), to: attempt(one, .tcp), at: .milliseconds(9)) == .done(message(), one))
        #expect(attempts.lost(attempt(one, .tcp), "refused", at: .milliseconds(9)) == .failed("10.0.0.1: refused"))
    }

    @Test("A server that takes no EDNS is asked without, once")
    func withoutEDNS() {
        var attempts = Attempts(servers: [one], limits: .init())
        _ = attempts.next(at: .zero)
        let error = message(ResponseCode.formatError)
        #expect(attempts.received(error, to: attempt(one), at: .zero) == .send(attempt(one, edns: false)))
        #expect(attempts.received(error, to: attempt(one, edns: false), at: .zero) == .done(error, one))
    }

    @Test("Copies of what it says of EDNS change nothing: it has still to answer without")
    func withoutEDNSCopies() {
        var attempts = Attempts(servers: Self.servers, limits: .init())
        _ = attempts.next(at: .zero)
        let error = message(ResponseCode.formatError)
        #expect(attempts.received(error, to: attempt(one), at: .zero) == .send(attempt(one, edns: false)))
        #expect(attempts.received(error, to: attempt(one), at: .zero) == .wait)
        #expect(attempts.next(at: .seconds(1)) == .send(attempt(two)))
        #expect(attempts.next(at: .seconds(2)) == .send(attempt(one, edns: false)))
    }

    @Test("Copies of a refusal ask nobody again")
    func refusalCopies() {
        for code in [ResponseCode.serverFailure, ResponseCode.refused] {
            var attempts = Attempts(servers: Self.servers, limits: .init())
            _ = attempts.next(at: .zero)
            #expect(attempts.received(message(code), to: attempt(one), at: .zero) == .send(attempt(two)))
            for _ in 0..<3 { #expect(attempts.received(message(code), to: attempt(one), at: .zero) == .wait) }
            #expect(attempts.deadline == .seconds(1))
        }
    }

    @Test("A server that fails or refuses is passed over; what it said counts when no other says more")
    func passedOver() {
        for code in [ResponseCode.serverFailure, ResponseCode.refused] {
            var attempts = Attempts(servers: Self.servers, limits: .init())
            _ = attempts.next(at: .zero)
            #expect(attempts.received(message(code), to: attempt(one), at: .zero) == .send(attempt(two)))
            var other = attempts
            #expect(other.received(message(), to: attempt(two), at: .zero) == .done(message(), two))
            #expect(attempts.lost(attempt(two), "nobody listens", at: .zero) == .done(message(code), one))
        }
    }

    @Test("When nobody can be reached, it is over at once, and each reason is told")
    func unreachable() {
        var attempts = Attempts(servers: Self.servers, limits: .init())
        _ = attempts.next(at: .zero)
        #expect(attempts.lost(attempt(one), "a", at: .zero) == .send(attempt(two)))
        #expect(attempts.lost(attempt(two), "b", at: .zero) == .failed("10.0.0.1: a; 10.0.0.2: b"))
    }

    @Test("resolv.conf may shorten the times, not lengthen them")
    func limits() {
        let short = Attempts.Limits(ResolverSettings(parsing: "nameserver ::1\noptions timeout:1 attempts:1"))
        #expect(short.total == .seconds(1) && short.interval == .seconds(1))
        #expect(Attempts.Limits(ResolverSettings(parsing: "options timeout:30 attempts:5")) == Attempts.Limits())
    }

    @Test("Who was silent is asked last, for 30 s or until it answers")
    func silentServers() {
        var silent = SilentServers()
        silent.add(one, at: .seconds(100))
        #expect(silent.sorted(Self.servers, at: .seconds(129)) == [two, one])
        #expect(silent.sorted(Self.servers, at: .seconds(130)) == [one, two])
        silent.remove(one)
        #expect(silent.sorted(Self.servers, at: .seconds(101)) == [one, two])
    }
}
