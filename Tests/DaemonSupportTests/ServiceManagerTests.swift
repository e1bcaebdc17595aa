import DiscoverySystem
import Glibc
import Testing

@testable import DiscoveryDaemon

/// The notification socket of a service manager.
private final class ManagerSocket {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let name: String

    init(_ name: String) {
        self.name = name
        #expect(SocketAddress(unixName: name)?.bind(descriptor) == 0)
    }

    deinit {
        close(descriptor)
        if name.hasPrefix("/") { unlink(name) }
    }

    /// The next message; a datagram has arrived when `send` returns.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

/// Tests that count descriptors, and those that open sockets meanwhile: one after another.
@Suite(.serialized) enum DescriptorTests {}

extension DescriptorTests {
    @Suite struct ServiceManagerTests {
        private func manager(_ environment: [String: String]) -> ServiceManager {
            ServiceManager(environment: environment, process: 42, firstDescriptor: 3)
        }

        @Test(arguments: ["/tmp/discoverd-notify-\(getpid())", "@discoverd-notify-\(getpid())"])
        func tells(_ name: String) throws {
            let socket = ManagerSocket(name)
            let manager = manager(["NOTIFY_SOCKET": name])
            #expect(manager.isPresent)
            #expect(manager.ready() && socket.next() == "READY=1")
            #expect(manager.status("12 services\nREADY=0") && socket.next() == "STATUS=12 services READY=0")
            #expect(manager.keepAlive() && socket.next() == "WATCHDOG=1")
            #expect(manager.stopping() && socket.next() == "STOPPING=1")
            var before = timespec()
            clock_gettime(CLOCK_MONOTONIC, &before)
            #expect(manager.reloading())
            let lines = try #require(socket.next()).split(separator: "\n")
            #expect(lines.first == "RELOADING=1")
            let time = try #require(lines.last?.split(separator: "=").last.flatMap { Int($0) })
            #expect(lines.last?.hasPrefix("MONOTONIC_USEC=") ?? false)
            #expect((0..<60_000_000).contains(time - before.tv_sec * 1_000_000 - before.tv_nsec / 1000))
            #expect(socket.next() == nil)
        }

        @Test(arguments: [
            "", "@", "relative", "vsock:2:1234", "/\(String(repeating: "x", count: 107))",
            "@\(String(repeating: "x", count: 108))",
        ])
        func anAddressThatCannotBeIsAWarning(_ name: String) {
            let manager = manager(["NOTIFY_SOCKET": name])
            #expect(!manager.isPresent && !manager.ready())
            #expect(manager.warnings.count == 1)
        }

        @Test func nobodyListensIsNoFailure() {
            #expect(!manager(["NOTIFY_SOCKET": "/nonexistent/notify"]).ready())
            #expect(!ServiceManager(environment: [:], process: 42).ready())
        }

        /// sd_watchdog_enabled(3)
        @Test(arguments: [
            (["WATCHDOG_USEC": "30000000"], Optional(Duration.seconds(15))),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "x"], nil), ([:], nil),
        ])
        func watchdog(_ environment: [String: String], _ interval: Duration?) {
            #expect(manager(environment).watchdogInterval == interval)
        }
    }

}

extension DescriptorTests {
    /// sd_listen_fds(3). Uses descriptor numbers that nothing else uses.
    @Suite struct InheritedSocketTests {
        private func environment(_ count: Int, names: String? = nil, process: Int = 42) -> [String: String] {
            var environment = ["LISTEN_PID": "\(process)", "LISTEN_FDS": "\(count)"]
            environment["LISTEN_FDNAMES"] = names
            return environment
        }

        private func listener(at descriptor: Int32, name: String) -> Int32 {
            let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let bound = SocketAddress(unixName: name)?.bind(socket)
            #expect(bound == 0 && listen(socket, 1) == 0 && dup2(socket, descriptor) == descriptor)
            close(socket)
            return descriptor
        }

        @Test func listeningSocketsAreTaken() {
            let path = "@discoverd-listen-\(getpid())"
            let first = listener(at: 400, name: path + "a")
            let second = listener(at: 401, name: path + "b")
            let inet = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listen(inet, 1) == 0 && dup2(inet, 402) == 402)
            defer { for descriptor in [first, second, 402, inet] { close(descriptor) } }
            let manager = ServiceManager(
                environment: environment(3, names: "control:"), process: 42, firstDescriptor: 400)
            #expect(manager.inheritedSockets.map(\.name) == ["control", "unknown", "unknown"])
            #expect(manager.inheritedSockets.first?.address == .unix(path: path + "a"))
            guard case .inet(let port)? = manager.inheritedSockets.last?.address else {
                Issue.record("no IPv4 socket")
                return
            }
            #expect(port != 0)
            for descriptor in Int32(400)...402 { #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC) }
            #expect(manager.warnings.isEmpty)
        }

        @Test func whatIsNoListenerIsAWarning() {
            let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            let silent = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let file = open("/dev/null", O_RDONLY)
            for (index, descriptor) in [datagram, silent, file].enumerated() {
                #expect(dup2(descriptor, 410 + Int32(index)) >= 0)
                close(descriptor)
            }
            defer { for descriptor in Int32(410)...412 { close(descriptor) } }
            let manager = ServiceManager(environment: environment(4), process: 42, firstDescriptor: 410)
            #expect(manager.inheritedSockets.isEmpty && manager.warnings.count == 4)
        }

        @Test func anotherProcessesSocketsAreLeft() {
            let manager = ServiceManager(environment: environment(1, process: 43), process: 42, firstDescriptor: 420)
            #expect(manager.inheritedSockets.isEmpty && manager.warnings.isEmpty)
            let broken = ServiceManager(environment: environment(-1), process: 42, firstDescriptor: 420)
            #expect(broken.inheritedSockets.isEmpty && broken.warnings.isEmpty)
        }

        @Test func theEnvironmentIsUnset() {
            setenv("NOTIFY_SOCKET", "@discoverd-unset", 1)
            setenv("WATCHDOG_USEC", "2000000", 1)
            let manager = ServiceManager.fromEnvironment()
            #expect(manager.isPresent && manager.watchdogInterval == .seconds(1))
            for name in ServiceManager.variables { #expect(getenv(name) == nil) }
        }
    }
}
