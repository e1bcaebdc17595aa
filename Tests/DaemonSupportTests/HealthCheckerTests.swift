import DNSSD
import Discovery
import DiscoveryTesting
import Glibc
import Testing

@testable import DiscoveryDaemon

/// A server on a local port that answers each connection with one text, or never.
private final class Server: Sendable {
    let descriptor: Int32
    let port: Port

    init(_ family: Int32 = AF_INET, listens: Bool = true) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var storage = sockaddr_in6()
        var size = socklen_t(family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
        storage.sin6_family = sa_family_t(family)
        withUnsafeMutableBytes(of: &storage) { bytes in
            if family == AF_INET {
                bytes.storeBytes(of: UInt32(0x7F00_0001).bigEndian, toByteOffset: 4, as: UInt32.self)
            }
        }
        if family == AF_INET6 { withUnsafeMutableBytes(of: &storage.sin6_addr) { $0[15] = 1 } }
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && (!listens || listen(descriptor, 8) == 0)
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(code)
        port = try Port(Int(UInt16(bigEndian: storage.sin6_port)))
    }

    deinit { close(descriptor) }

    /// Answers one connection on a thread; with `closes`, without waiting for the request.
    func answer(_ text: String) {
        let descriptor = dup(descriptor)
        DetachedThread.start {
            let client = accept(descriptor, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 1024)
            _ = recv(client, &buffer, buffer.count, 0)
            _ = send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            close(client)
            close(descriptor)
        }
    }
}

private enum DetachedThread {
    final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                argument.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(run)).toOpaque())
        pthread_detach(thread)
    }
}

extension DescriptorTests {
    @Suite struct HealthCheckerTests {
        private func check(_ text: String, _ port: Port, timeout: Duration = .seconds(5)) async throws -> CheckResult {
            await HealthChecker().check(try CheckSpecification(text, timeout: timeout), port: port)
        }

        @Test(arguments: [AF_INET, AF_INET6]) func aListenerPasses(_ family: Int32) async throws {
            let server = try Server(family)
            #expect(try await check("tcp", server.port) == .passed)
        }

        @Test func noListenerFails() async throws {
            let server = try Server(listens: false)
            #expect(
                try await check("tcp", server.port)
                    == .failed(reason: "port \(server.port) on this machine: Connection refused"))
        }

        @Test(
            arguments: [
                ("HTTP/1.1 200 OK\r\n\r\n", nil), ("HTTP/1.0 301 Moved\r\n\r\n", nil), ("HTTP/1.1 204\r\n", nil),
                ("HTTP/1.1 404 Not Found\r\n\r\n", "HTTP 404 for /x"), ("HTTP/1.1 500 \r\n\r\n", "HTTP 500 for /x"),
                ("SSH-2.0-OpenSSH\r\n", "did not answer with HTTP"), ("HTTP/1.1 20 OK\r\n", "did not answer with HTTP"),
                (String(repeating: "x", count: 5000), "did not answer with HTTP"), ("", "closed without an answer"),
            ] as [(String, String?)])
        func http(_ answer: String, _ reason: String?) async throws {
            let server = try Server()
            server.answer(answer)
            let result = try await check("http:/x", server.port)
            guard let reason else {
                #expect(result == .passed)
                return
            }
            guard case .failed(let said) = result else {
                Issue.record("passed")
                return
            }
            #expect(said.contains(reason), "\(said)")
        }

        @Test func aSilentServerTimesOut() async throws {
            let server = try Server()
            #expect(
                try await check("http:/", server.port, timeout: .milliseconds(100))
                    == .failed(reason: "no answer within 0.1 seconds"))
        }

        @Test(
            arguments: [
                ("exec:true", nil), ("exec:false", "false ended with status 1"),
                ("exec:/nonexistent/x", "/nonexistent/x: No such file or directory"),
                ("exec:test -e /", nil), ("exec:test -p /dev/stdin", "test ended with status 1"),
            ] as [(String, String?)])
        func exec(_ text: String, _ reason: String?) async throws {
            let result = try await check(text, try Port(1))
            #expect(result == reason.map { .failed(reason: $0) } ?? .passed)
        }

        @Test func aProgramThatHangsIsKilledWithAllThatItStarted() async throws {
            let file = "/tmp/discoverd-exec-\(getpid())"
            defer { unlink(file) }
            let spec = try CheckSpecification(
                .exec(command: ["sh", "-c", "sleep 1000 & echo $! >\(file); wait"]), timeout: .milliseconds(500))
            #expect(
                await HealthChecker().check(spec, port: try Port(1)) == .failed(reason: "no answer within 0.5 seconds"))
            let text = try #require(fopen(file, "r"))
            defer { fclose(text) }
            var line = [CChar](repeating: 0, count: 32)
            #expect(fgets(&line, 32, text) != nil)
            let grandchild = Int32(atoi(line))
            #expect(grandchild > 0)
            // Once killed it soon disappears, or becomes a zombie of init's; nothing reports when.
            let limit = ContinuousClock.now + .seconds(30)
            while try await check("pid:\(grandchild)", try Port(1)) == .passed {
                try #require(ContinuousClock.now < limit)
                await Task.yield()
            }
        }

        @Test func aProgramThatNothingEndsIsSaidAndIsNotStartedAgainBefore() async throws {
            let (file, gate) = ("/tmp/discoverd-stuck-\(getpid())", "/tmp/discoverd-gate-\(getpid())")
            try #require(mkfifo(gate, 0o600) == 0)
            defer { for path in [file, gate] { unlink(path) } }
            let command = ["sh", "-c", "echo >>\(file); read end <\(gate)"]
            var unable = try #require(Probe(within: .milliseconds(500)))
            // As if SIGKILL did not end it.
            unable.signal = 0
            let probe = unable
            for _ in 0..<3 {
                await #expect(throws: ProbeFailure("sh does not end, not even by SIGKILL")) {
                    try await probe.exec(command)
                }
            }
            // It reads: opening the other end does not wait.
            close(open(gate, O_WRONLY))
            // Its end is nobody's news.
            let limit = ContinuousClock.now + .seconds(30)
            while CheckProcess.isStuck(command) {
                try #require(ContinuousClock.now < limit)
                await Task.yield()
            }
            var info = stat()
            let isThere = stat(file, &info) == 0
            #expect(isThere && info.st_size == 1, "it was started once")
        }

        @Test func processes() async throws {
            #expect(try await check("pid:\(getpid())", try Port(1)) == .passed)
            var child = pid_t()
            let arguments = [strdup("true"), nil]
            defer { free(arguments[0]) }
            #expect(posix_spawnp(&child, "true", nil, nil, arguments, environ) == 0)
            var info = siginfo_t()
            #expect(waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) == 0)
            #expect(try await check("pid:\(child)", try Port(1)) == .failed(reason: "process \(child) has ended"))
            var status: Int32 = 0
            waitpid(child, &status, 0)
            #expect(
                try await check("pid:\(child)", try Port(1)) == .failed(reason: "process \(child): No such process"))
        }

        @Test func cancellingEndsACheckAtOnce() async throws {
            let server = try Server()
            let spec = try CheckSpecification("http:/", interval: .seconds(300), timeout: .seconds(300))
            let task = Task { await HealthChecker().run(spec, port: server.port) { _ in } }
            // Connected: the check is waiting for an answer.
            var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&entry, 1, 0) == 0 { await Task.yield() }
            task.cancel()
            let clock = ContinuousClock()
            let started = clock.now
            await task.value
            #expect(clock.now - started < .seconds(60))
        }

        /// Leaves no descriptors or children behind. Hundreds of waiting checks leave the tasks' threads free.
        @Test func nothingIsLeftBehind() async throws {
            _ = try await check("exec:true", try Port(1))
            let before = descriptors()
            let silent = try Server()
            let closed = try Server(listens: false)
            await withTaskGroup { group in
                for index in 0..<200 {
                    let texts = ["http:/", "tcp", "exec:sleep 100", "exec:true", "pid:1"]
                    let port = index % 2 == 0 ? silent.port : closed.port
                    group.addTask {
                        _ = try? await check(texts[index % texts.count], port, timeout: .milliseconds(300))
                    }
                }
            }
            withExtendedLifetime((silent, closed)) {
                #expect(descriptors().subtracting(before).subtracting([silent.descriptor, closed.descriptor]).isEmpty)
            }
            var status: Int32 = 0
            #expect(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD)
        }

        /// Sockets and processes only, because other suites read files meanwhile.
        private func descriptors() -> Set<Int32> {
            Set(
                (0..<4096).filter { descriptor in
                    var name = [CChar](repeating: 0, count: 64)
                    guard readlink("/proc/self/fd/\(descriptor)", &name, 63) > 0 else { return false }
                    let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                    return text.hasPrefix("socket:") || text.contains("pidfd")
                })
        }

        @Test func changesAreReportedInStep() async throws {
            let time = TestTime()
            let server = try Server(listens: false)
            let (healths, continuation) = AsyncStream.makeStream(of: Health.self)
            let spec = try CheckSpecification("tcp", interval: .seconds(10), rise: 2, fall: 3)
            let task = Task {
                await HealthChecker(time: time).run(spec, port: server.port) { continuation.yield($0) }
            }
            var iterator = healths.makeAsyncIterator()
            #expect(
                await iterator.next() == .failing(reason: "port \(server.port) on this machine: Connection refused"))
            #expect(listen(server.descriptor, 8) == 0)
            for second in [10, 20] {
                await time.sleeper(until: .seconds(second))
                time.advance(by: .seconds(10))
            }
            #expect(await iterator.next() == .passing)
            task.cancel()
            await task.value
        }
    }
}
