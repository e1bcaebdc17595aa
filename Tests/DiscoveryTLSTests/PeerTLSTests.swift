#if TLS
import DNSSD
import DiscoveryTLS
import Foundation
import NIOCore
import NIOPosix
import PeerIdentity
import Testing

struct PeerTLSTests {
    private let tony: PeerName

    init() throws {
        tony = .service(ServiceInstance(name: try ServiceName("tony"), type: try ServiceType("_witap._tcp")))
    }

    private func refusal<Value>(_ result: Result<Value, any Error>) -> PeerRefusal? {
        if case .failure(let error) = result { error as? PeerRefusal } else { nil }
    }

    @Test("two that know each other talk, and each knows with whom")
    func known() async throws {
        let pair = try TLSPair.acquainted(tony)
        let outcome = try await pair.connect(to: tony)
        #expect(try outcome.calling.get() == .init(name: tony, key: pair.answerer.identity.fingerprint, isNew: false))
        let caller = PeerTLS.Peer(name: .label("caller"), key: pair.caller.identity.fingerprint, isNew: false)
        #expect(try outcome.answering.get() == caller)
        #expect(outcome.received == "hello")
    }

    @Test("another machine under a known name gets no byte, whoever says yes", arguments: [PeerTrust.known, .first])
    func changed(_ trust: PeerTrust) async throws {
        let real = try TLSPair.machine("real")
        let hostile = try TLSPair.machine("real", trust: .first)
        let caller = try TLSPair.machine("caller", trust: trust) { _ in true }
        try caller.known.change { $0.add(.init(tony, real.identity.fingerprint)) }
        let outcome = try await TLSPair(caller: caller, answerer: hostile).connect(to: tony)
        let expected = PeerRefusal.changed(
            tony, known: [real.identity.fingerprint], now: hostile.identity.fingerprint)
        #expect(refusal(outcome.calling) == expected)
        #expect(outcome.received.isEmpty && refusal(outcome.answering) != nil)
        #expect(try caller.known.read().keys(of: tony) == [real.identity.fingerprint])
    }

    @Test("an unknown one is refused where nobody can be asked, and where the answer is no")
    func unknown() async throws {
        for ask in [nil, { @Sendable (_: PeerTLS.Question) in false }] {
            let answerer = try TLSPair.machine("answerer", trust: .first)
            let pair = TLSPair(caller: try TLSPair.machine("caller", ask: ask), answerer: answerer)
            let outcome = try await pair.connect(to: tony)
            #expect(refusal(outcome.calling) == .unknown(tony, answerer.identity.fingerprint))
            #expect(outcome.received.isEmpty)
            #expect(try pair.caller.known.read().peers.isEmpty)
        }
    }

    @Test("who says yes is not asked again")
    func yes() async throws {
        let answerer = try TLSPair.machine("answerer", trust: .first)
        let caller = try TLSPair.machine("caller") { question in question.otherNames.isEmpty }
        let pair = TLSPair(caller: caller, answerer: answerer)
        #expect(try await pair.connect(to: tony).calling.get().isNew)
        #expect(try await pair.connect(to: tony).calling.get().isNew == false)
    }

    @Test("a caller that is not known is refused, and learns so; with the first of a name it is let in and bound")
    func callers() async throws {
        let caller = try TLSPair.machine("caller", trust: .first)
        let strict = TLSPair(caller: caller, answerer: try TLSPair.machine("strict"))
        let outcome = try await strict.connect(to: tony, writing: "secret")
        #expect(refusal(outcome.answering) == .unknown(.label("caller"), caller.identity.fingerprint))
        #expect(outcome.received.isEmpty)
        let open = try TLSPair.machine("open", trust: .first)
        let other: PeerName = .host(try HostName("open.local"))
        let first = try await TLSPair(caller: caller, answerer: open).connect(to: other)
        #expect(first.received == "hello")
        let impostor = try TLSPair.machine("caller", trust: .first)
        let second = try await TLSPair(caller: impostor, answerer: open).connect(to: other)
        #expect(second.received.isEmpty)
        let expected = PeerRefusal.changed(
            .label("caller"), known: [caller.identity.fingerprint], now: impostor.identity.fingerprint)
        #expect(refusal(second.answering) == expected)
    }

    @Test("a caller that goes away takes the question with it", .timeLimit(.minutes(5)))
    func gone() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (asked, withdrawn) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
        let answerer = try TLSPair.machine("answerer") { _ in
            asked.succeed()
            // A person who thinks until the question is withdrawn, and then says yes.
            await TLSPair.untilCancelled()
            withdrawn.succeed()
            return true
        }
        let caller = try TLSPair.machine("caller", trust: .first)
        let answered = try await TLSPair(caller: caller, answerer: answerer)
            .abandoned(calling: tony, after: asked.futureResult)
        try await withdrawn.futureResult.get()
        #expect(refusal(answered) != nil)
        #expect(try answerer.known.read().peers.isEmpty)
    }

    @Test("an identity is made once, for its owner alone, and is the same afterwards")
    func identity() throws {
        let directory = try TLSPair.directory() + "/a/b"
        let one = try MachineIdentity(directory: directory, label: "h1")
        let again = try MachineIdentity(directory: directory, label: "other")
        #expect(one.fingerprint == again.fingerprint && again.label == "h1")
        let path = "\(directory)/\(MachineIdentity.fileName)"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [MachineIdentity.fileName])
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        let failure = #expect(throws: MachineIdentity.Failure.self) {
            try MachineIdentity(directory: directory, label: "")
        }
        #expect(failure?.description == "\(path): others may read it, or own it: chmod 600 \(path)")
    }

    @Test(
        "garbage is no identity, and the message has nothing of it",
        arguments: ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n"])
    func garbage(_ text: String) throws {
        let directory = try TLSPair.directory()
        let path = "\(directory)/\(MachineIdentity.fileName)"
        try Data((text + "s3cret").utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let failure = #expect(throws: MachineIdentity.Failure.self) {
            try MachineIdentity(directory: directory, label: "")
        }
        #expect(failure?.description.contains("s3cret") == false)
    }

    @Test("sixteen that come first at once have one identity")
    func atOnce() async throws {
        let directory = try TLSPair.directory()
        let keys = try await withThrowingTaskGroup(of: KeyFingerprint.self) { group in
            for _ in 0..<16 {
                group.addTask { try MachineIdentity(directory: directory, label: "h1").fingerprint }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }
}
#endif
