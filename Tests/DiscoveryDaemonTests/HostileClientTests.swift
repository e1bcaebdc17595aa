import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryDaemon
import DiscoveryJSON
import DiscoveryTesting
import Foundation
import Glibc
import Testing

/// Slow, silent, greedy and malformed clients harm only themselves.
@Suite(.serialized) struct HostileClientTests {
    private let network = SimulatedNetwork()

    private func statusTime(_ daemon: TestDaemon) async throws -> Duration {
        let start = ContinuousClock.now
        _ = try await daemon.get("/v1/status")
        return ContinuousClock.now - start
    }

    @Test func sixtyFourSlowAndSilentClientsDoNotKeepOthersOut() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        var clients: [RawClient] = []
        for number in 0..<64 {
            let client = try RawClient(daemon.path)
            // Half of them begin a request and continue byte by byte; the others stay silent.
            if number % 2 == 0 { await client.write("GET /v1/sta") }
            clients.append(client)
        }
        for client in clients where client.descriptor % 2 == 0 { await client.write("t") }
        for _ in 0..<20 { #expect(try await statusTime(daemon) < .seconds(1)) }
        #expect(daemon.daemon.server.clientCount <= 64)
        withExtendedLifetime(clients) {}
        clients = []
        await daemon.stopAndRemove()
    }

    @Test func aRequestThatIsNotCompleteInTimeIsCutOff() async throws {
        var limits = ConnectionTable.Limits()
        limits.request = .milliseconds(200)
        limits.idle = .milliseconds(200)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        let (slow, silent) = (try RawClient(daemon.path), try RawClient(daemon.path))
        await slow.write("GET /v1/status HTTP/1.1\r\nHost")
        #expect(await slow.readAll() == "")
        #expect(await silent.readAll() == "")
        await daemon.stopAndRemove()
    }

    @Test func aConnectionIsForACertainNumberOfRequestsAndTheLastAnswerSaysSo() async throws {
        var limits = ConnectionTable.Limits()
        limits.requests = 3
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        let client = try RawClient(daemon.path)
        await client.write(String(repeating: "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n", count: 4))
        let answers = await client.readAll().components(separatedBy: "HTTP/1.1 200").dropFirst()
        #expect(answers.map { $0.contains("Connection: close") } == [false, false, true])
        await daemon.stopAndRemove()
    }

    @Test func aBodyOfTenMegabytesIsRefused() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let known = try RawClient(daemon.path)
        await known.write("POST /v1/registrations HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n")
        #expect(await known.readAll().hasPrefix("HTTP/1.1 413"))
        let chunked = try RawClient(daemon.path)
        await chunked.write("POST /v1/registrations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65_536) + Array("\r\n".utf8)
        for _ in 0..<64 { guard await chunked.write(chunk) > 0 else { break } }
        // A reset may lose the answer while the body is still being sent; the body is refused either way.
        let said = await chunked.readAll()
        #expect(said.isEmpty || said.hasPrefix("HTTP/1.1 413"))
        #expect(try await statusTime(daemon) < .seconds(1))
        await daemon.stopAndRemove()
    }

    @Test func aHeadOfAMegabyteIsRefused() async throws {
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"))
        let client = try RawClient(daemon.path)
        await client.write("GET /" + String(repeating: "a", count: 1_000_000) + " HTTP/1.1\r\n\r\n")
        // The answer comes before the client's time is up, and although the server has not read everything.
        let answer = await client.read() ?? []
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 431"))
        #expect(try await statusTime(daemon) < .seconds(1))
        let none = try RawClient(daemon.path)
        await none.write("\u{16}\u{3}\u{1} no HTTP\r\n\r\n")
        let refusal = String(decoding: await none.read() ?? [], as: UTF8.self)
        #expect(refusal.hasPrefix("HTTP/1.1 400") && refusal.contains("bad-request"))
        await daemon.stopAndRemove()
    }

    @Test func watchersLeaveRoomForRequestsThatEnd() async throws {
        var limits = ConnectionTable.Limits()
        (limits.forRoot, limits.perUser) = (4, 4)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        var watchers: [RawClient] = []
        for number in 0..<4 {
            let watcher = try RawClient(daemon.path)
            await watcher.write("GET /v1/services/watch?type=_xx._tcp HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = String(decoding: await watcher.read() ?? [], as: UTF8.self)
            #expect(answer.hasPrefix(number < 3 ? "HTTP/1.1 200" : "HTTP/1.1 503"))
            watchers.append(watcher)
        }
        for _ in 0..<3 { #expect(try await daemon.get("/v1/status")["v"]?.integer == 1) }
        withExtendedLifetime(watchers) {}
        watchers = []
        await daemon.stopAndRemove()
    }

    @Test func aWatcherThatNeverReadsIsToldWhatCameOfItOrDropped() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let type = try ServiceType("_xx._tcp")
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), browse: [type])
        let watcher = await Lines(daemon.path, "/v1/services/watch?type=_xx._tcp")
        _ = try await watcher.next { $0["event"]?.string == "settled" }
        for round in 0..<30 {
            var publications: [Publication] = []
            for number in 0..<10 {
                publications.append(
                    other.publish(try OfferedService(name: "s\(round)-\(number)", type: "_xx._tcp", port: 1)))
            }
            for publication in publications { _ = try await publication.established() }
            for publication in publications { await publication.withdraw() }
        }
        let last = other.publish(try OfferedService(name: "last", type: "_xx._tcp", port: 1))
        _ = try await last.established()
        let told = try await watcher.next { $0["service"]?["name"]?.string == "last" }
        #expect(told["event"]?.string == "added")
        await last.withdraw()
        await daemon.stopAndRemove()
    }

    @Test func aWatcherThatNeverReadsIsClosedAfterItsTimeAndOthersAreServed() async throws {
        let other = LocalNetwork(engine: try network.addMachine("h1"))
        let type = try ServiceType("_xx._tcp")
        var limits = ConnectionTable.Limits()
        limits.sending = .seconds(2)
        limits.watchBytes = 16 * 1024
        let daemon = try await TestDaemon(engine: try network.addMachine("h2"), limits: limits, browse: [type])
        let txt = TXTRecord(strings: (0..<36).map { Array("k\($0)=\(String(repeating: "x", count: 240))".utf8) })
        // A line exceeds 8 KiB; the daemon's side of the socket buffers that much, and the server some more.
        let setting = try String(contentsOfFile: "/proc/sys/net/core/wmem_default", encoding: .utf8)
        let buffer = try #require(Int(setting.trimmingCharacters(in: .whitespacesAndNewlines)))
        let count = (buffer + 512 * 1024) / 8192
        var publications: [Publication] = []
        for number in 0..<count {
            publications.append(
                other.publish(try OfferedService(name: "s\(number)", type: "_xx._tcp", port: 1, txt: txt)))
        }
        // All services and their TXT records are known before it asks, so its first answer would be complete and settled.
        let known = await Lines(daemon.path, "/v1/services/watch?type=_xx._tcp")
        var names: Set<String> = []
        while names.count < count {
            let line = try await known.next { $0["service"]?["state"]?.string == "resolved" }
            names.insert(try #require(line["service"]?["name"]?.string))
        }
        let watcher = try RawClient(daemon.path)
        await watcher.write("GET /v1/services/watch?type=_xx._tcp HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await watcher.untilClosed())
        // What it received is correct as far as it goes: whole lines except the last, each service once, and no end.
        var reader = HTTPResponseReader()
        var splitter = LineSplitter()
        while let bytes = await watcher.read(), !bytes.isEmpty { try reader.received(bytes) }
        #expect(reader.status == 200 && !reader.isDone)
        #expect(throws: HTTPResponseReader.Failure.self) { try reader.ended() }
        let lines = splitter.received(reader.takeBody())
        let told = try #require(lines).map { try JSONReader.read($0) }
        #expect(!told.isEmpty && told.allSatisfy { $0["event"]?.string == "added" })
        #expect(Set(told.map { $0["service"]?["name"]?.string }).count == told.count && told.count < count)
        #expect(try await daemon.get("/v1/services?type=_xx._tcp")["services"]?.array?.count == count)
        withExtendedLifetime(publications) {}
        await daemon.stopAndRemove()
    }

    @Test func beyondTheLimitThereIsAnAnswerAndAnEnd() async throws {
        var limits = ConnectionTable.Limits()
        (limits.clients, limits.forRoot, limits.perUser) = (2, 2, 2)
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        var watchers: [RawClient] = []
        for _ in 0..<2 {
            let watcher = try RawClient(daemon.path)
            await watcher.write("GET /v1/services/watch?type=_xx._tcp HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(String(decoding: await watcher.read() ?? [], as: UTF8.self).hasPrefix("HTTP/1.1 200"))
            watchers.append(watcher)
        }
        let asking = try RawClient(daemon.path)
        await asking.write("GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = await asking.readAll()
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.contains("Retry-After: 1") && answer.contains("busy"))
        let silent = try RawClient(daemon.path)
        #expect(await silent.readAll().hasPrefix("HTTP/1.1 503"))
        // One of them leaving makes room again.
        await watchers.removeLast().finish()
        #expect(try await daemon.get("/v1/ping")["v"]?.integer == 1)
        watchers = []
        await daemon.stopAndRemove()
    }

    @Test func whatARequestMayHaveIsTheConfigurations() async throws {
        var limits = ConnectionTable.Limits()
        limits.requestBytes = 1024
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), limits: limits)
        let padding = String(repeating: " ", count: 2000)
        let error = await #expect(throws: ControlError.self) {
            try await daemon.post("/v1/registrations", #"{"name":"a","port":7}"# + padding)
        }
        #expect(error?.status == 413 && error?.message.contains("1024") == true)
        await daemon.stopAndRemove()
    }

    #if Commands
    /// 15 s of mutated requests, and of intact ones with a number at its extremes; `DISCOVERD_FUZZ_SECONDS` prolongs it.
    @Test func anyBytesAreAnsweredOrCutOff() async throws {
        let seconds = getenv("DISCOVERD_FUZZ_SECONDS").flatMap { Int(String(cString: $0)) } ?? 15
        let daemon = try await TestDaemon(engine: try network.addMachine("h1"), settings: .unrestricted)
        let body = #"{"name":"f","port":7,"txt":{"k":"v"},"check":"tcp","subtypes":["_a"]}"#
        let seeds = [
            "GET /v1/services?type=_witap._tcp&resolve=0&wait=0 HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST /v1/registrations?wait=0 HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            "DELETE /v1/registrations/abc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "GET /v1/services/watch?type=_xx._tcp&since=1-2-3 HTTP/1.1\r\nHost: x\r\n\r\n",
        ].map { Array($0.utf8) }
        var random = SeededGenerator(seed: 4711)
        let end = ContinuousClock.now + .seconds(seconds)
        var sent = 0
        while ContinuousClock.now < end {
            // Half are intact except for a number: flipping bytes rarely yields one of 19 digits.
            if Bool.random(using: &random), let number = ExtremeNumbers.all.randomElement(using: &random) {
                let body = RequestBody(RequestBody.numbers.randomElement(using: &random) ?? "port", number).text
                let client = try RawClient(daemon.path)
                await client.write(
                    "POST /v1/registrations?attached=1 HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                let answer = String(decoding: await client.read(4096) ?? [], as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 201") || answer.hasPrefix("HTTP/1.1 400"), "\(body): \(answer)")
                sent += 1
                continue
            }
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(contentsOf: bytes[position...].prefix(32), at: position)
                case 3: bytes.removeSubrange(position..<min(bytes.count, position + 16))
                default: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            let client = try RawClient(daemon.path)
            await client.write(bytes)
            shutdown(client.descriptor, Int32(SHUT_WR))
            _ = await client.read(4096)
            sent += 1
            if sent % 500 == 0 { #expect(try await statusTime(daemon) < .seconds(2)) }
        }
        #expect(sent > 100)
        #expect(try await daemon.get("/healthz")["status"]?.string == "ok")
        await daemon.stopAndRemove()
    }
    #endif
}

@Suite struct ConnectionTableTests {
    @Test func slowOnesMakeRoomAndBusyOnesDoNot() {
        var limits = ConnectionTable.Limits()
        limits.perUser = 2
        limits.clients = 3
        var table = ConnectionTable(limits: limits)
        #expect(table.connected(1, of: .user(7), now: .zero) == .accepted)
        #expect(table.connected(2, of: .user(7), now: .seconds(1)) == .accepted)
        table.received(1, now: .seconds(1))
        #expect(table.connected(3, of: .user(7), now: .seconds(2)) == .replacing(1))
        table.became(.serving, 2, now: .seconds(2))
        table.became(.serving, 3, now: .seconds(2))
        guard case .refused = table.connected(4, of: .user(7), now: .seconds(3)) else {
            Issue.record("a third connection of one user was taken")
            return
        }
        #expect(table.connected(5, of: .user(8), now: .seconds(3)) == .accepted)
        #expect(table.connected(6, of: .user(0), now: .seconds(4)) == .replacing(5))
        table.became(.sending, 6, now: .seconds(4))
        guard case .refused = table.connected(7, of: .user(9), now: .seconds(5)) else {
            Issue.record("a fourth connection was taken")
            return
        }
        #expect(table.count == 3)
    }

    @Test func rootHasPlacesThatOthersCannotTake() {
        var table = ConnectionTable()
        for id: UInt64 in 1...56 {
            #expect(table.connected(id, of: .user(UInt32(1 + id / 8)), now: .zero) == .accepted)
            table.became(.serving, id, now: .zero)
        }
        guard case .refused = table.connected(57, of: .user(99), now: .zero) else {
            Issue.record("others have what is root's")
            return
        }
        for id: UInt64 in 58...65 { #expect(table.connected(id, of: .user(0), now: .zero) == .accepted) }
    }

    @Test func watchersAreCountedUntilTheirAnswerEnds() {
        var table = ConnectionTable()
        for id: UInt64 in 1...8 { _ = table.connected(id, of: .user(1), now: .zero) }
        for id: UInt64 in 1...6 { #expect(table.watches(id, now: .zero) == nil) }
        #expect(table.watches(7, now: .zero) != nil)
        table.became(.idle, 1, now: .zero)
        #expect(table.watches(7, now: .zero) == nil)
        table.closed(2)
        #expect(table.watches(8, now: .zero) == nil)
        #expect(table.takeExpired(now: .seconds(3600)).map(\.id) == [1])
    }

    private func owner(_ text: String) throws -> ConnectionTable.Owner {
        ConnectionTable.Owner(try #require(IPAddress(text)))
    }

    @Test func aHostIsItsAddressOrItsLink() throws {
        #expect(try owner("10.0.0.1") != owner("10.0.0.2"))
        #expect(try owner("::ffff:10.0.0.1") == owner("10.0.0.1"))
        #expect(try owner("2001:db8::1") == owner("2001:db8::ffff:2"))
        #expect(try owner("2001:db8::1") != owner("2001:db8:0:1::1"))
    }

    /// Over TCP, one address that does not read locks out no other, and all of them together do not lock out local users.
    @Test func overTCPEachAddressHasItsShare() throws {
        var table = ConnectionTable()
        let (greedy, scraper) = (try owner("10.0.0.1"), try owner("10.0.0.2"))
        for id: UInt64 in 1...8 {
            #expect(table.connected(id, of: greedy, now: .zero) == .accepted)
            table.became(.sending, id, now: .zero)
        }
        guard case .refused = table.connected(9, of: greedy, now: .milliseconds(999)) else {
            Issue.record("a ninth connection of one address was taken")
            return
        }
        #expect(table.connected(10, of: scraper, now: .zero) == .accepted)
        // A newcomer replaces a client that has not read for a second; a client that has not read for five is cut off.
        #expect(table.connected(11, of: greedy, now: .seconds(1)) == .replacing(1))
        #expect(Set(table.takeExpired(now: .milliseconds(4999)).map(\.id)) == [])
        #expect(Set(table.takeExpired(now: .seconds(5)).map(\.id)) == [2, 3, 4, 5, 6, 7, 8])
    }

    @Test func manyAddressesTogetherLeaveRoomForUsersAndForEachOther() throws {
        var table = ConnectionTable()
        for id: UInt64 in 0..<32 {
            #expect(table.connected(id, of: try owner("10.0.0.\(id / 8)"), now: .zero) == .accepted)
            table.became(.serving, id, now: .zero)
        }
        // The newest connection of the owner with the most gives way, unless the newcomer's owner would then have as many.
        #expect(table.connected(100, of: try owner("10.0.1.1"), now: .seconds(1)) == .replacing(31))
        table.became(.serving, 100, now: .seconds(1))
        for id: UInt64 in 200..<224 {
            #expect(table.connected(id, of: .user(UInt32(id / 8)), now: .seconds(1)) == .accepted)
            table.became(.serving, id, now: .seconds(1))
        }
        #expect(table.connected(300, of: .user(0), now: .seconds(1)) == .accepted)
        // Watchers over TCP do not take the local users' share either.
        for id: UInt64 in 0..<24 { #expect((table.watches(id, now: .seconds(1)) == nil) == (id % 8 < 6)) }
        #expect(table.watches(300, now: .seconds(1)) == nil)
    }

    @Test func rootsConnectionsDoNotGiveWayForOthers() {
        var limits = ConnectionTable.Limits()
        (limits.clients, limits.forRoot) = (1, 1)
        var table = ConnectionTable(limits: limits)
        #expect(table.connected(1, of: .user(0), now: .zero) == .accepted)
        table.became(.sending, 1, now: .zero)
        guard case .refused = table.connected(2, of: .user(7), now: .seconds(20)) else {
            Issue.record("root's connection gave way")
            return
        }
    }

    @Test func timesAreKept() {
        var table = ConnectionTable()
        for id: UInt64 in 1...4 { _ = table.connected(id, of: .user(1), now: .zero) }
        table.received(1, now: .zero)
        table.became(.serving, 2, now: .zero)
        table.became(.sending, 3, now: .zero)
        #expect(table.takeExpired(now: .milliseconds(4999)).map(\.id) == [])
        #expect(table.takeExpired(now: .seconds(5)).map(\.id) == [1])
        #expect(table.takeExpired(now: .seconds(30)).map(\.id) == [3])
        #expect(table.takeExpired(now: .seconds(60)).map(\.id) == [4])
        #expect(table.takeExpired(now: .seconds(100_000)).map(\.id) == [])
    }
}
