import DNSSD
import Discovery
import DiscoveryControl
import DiscoveryJSON
import DiscoverySystem
import DiscoveryTesting
import Foundation

@testable import DiscoveryDaemon

/// A daemon within this process, over a simulated machine, with its socket in a directory of its own.
final class TestDaemon: Sendable {
    let directory: String
    let path: String
    let daemon: Daemon
    /// Released by `stop`, as a process releases its lock.
    private let runtime = Locked<RuntimeDirectory?>(nil)
    private let task: Task<Void, any Error>

    /// - Parameters:
    ///   - refusal: why a peer may not publish a type; nil to permit it, the default.
    ///   - settings: replaces the settings made from the other parameters.
    init(
        engine: any DiscoveryEngine,
        directory: String? = nil,
        limits: ConnectionTable.Limits = ConnectionTable.Limits(),
        browse: Set<ServiceType> = [],
        discovery: DiscoveryLimits = TestDaemon.limits,
        refusal: @escaping @Sendable (SocketPeer, ServiceType) -> String? = { _, _ in nil },
        quota: Int = 1000,
        settings: Daemon.Settings? = nil,
        state: StateDirectory? = nil
    ) async throws {
        let directory = directory ?? NSTemporaryDirectory() + "discoverd-\(UInt32.random(in: 0 ... .max))"
        let manage = try ServiceType("_manage._tcp")
        self.directory = directory
        path = directory + "/control.sock"
        let runtime = try RuntimeDirectory(socketPath: path)
        var facts = DaemonFacts(
            version: "test", pid: 1, backend: "simulated", finder: "simulated", socket: path, limits: limits)
        facts.localAddresses = Self.localAddresses
        facts.routes = { NoRoutes() }
        self.runtime.withLock { $0 = runtime }
        daemon = Daemon(
            engine: engine,
            limits: discovery,
            settings: settings
                ?? Daemon.Settings(
                    browse: browse,
                    policy: RegistryPolicy(
                        refusalToPublish: { peer, service, _ in refusal(peer, service.type) },
                        refusalToManage: { refusal($0, manage) },
                        quota: { _ in quota },
                        validate: { _, _ in },
                        check: { _, _, _ in }
                    )
                ),
            state: state ?? StateDirectory(path: directory),
            facts: facts,
            log: DaemonLog(write: { _ in }),
            reload: { _ in .failure(ControlError(422, "bad-configuration", ["x.yaml:3: no", "y.yaml:1: nor this"])) }
        )
        let listener = ControlServer.Listener(descriptor: try runtime.listen(), isReadOnly: false)
        let (serving, isServing) = AsyncStream.makeStream(of: Void.self)
        task = Task { [daemon] in
            try await daemon.run([listener]) { isServing.finish() }
            isServing.finish()
        }
        for await _ in serving {}
    }

    /// The addresses of a simulated machine: one more on the network of `SimulatedInterface.ethernet`.
    @Sendable private static func localAddresses() -> LocalAddresses {
        let eth0 = NetworkInterface(index: 2, name: "eth0")
        let address = IPAddress.v4(IPv4Address(bits: 0x0A00_00FE))
        return LocalAddresses(entries: [LocalAddresses.Entry(interface: eth0, address: address, prefixLength: 24)])
    }

    private struct NoRoutes: RouteLookup {
        func route(to address: IPAddress) -> Route? { nil }
    }

    static var limits: DiscoveryLimits {
        var limits = DiscoveryLimits()
        limits.removalHold = .milliseconds(30)
        limits.changeInterval = .milliseconds(10)
        return limits
    }

    var client: ControlClient { ControlClient(path: path) }

    func get(_ target: String) async throws -> JSONValue {
        try JSONReader.read(try await client.send(ControlClient.Request("GET", target)))
    }

    func post(_ target: String, _ body: String) async throws(ControlError) -> [UInt8] {
        try await client.send(ControlClient.Request("POST", target, body: Array(body.utf8)))
    }

    /// Stops the daemon; the directory stays for the next one.
    func stop() async {
        task.cancel()
        _ = try? await task.value
        runtime.withLock { $0 = nil }
    }

    func stopAndRemove() async {
        await stop()
        try? FileManager.default.removeItem(atPath: directory)
    }
}

extension Registry {
    /// Waits until a registration is withdrawn.
    func untilWithdrawn(_ id: String) async {
        guard let registration = registration(id) else { return }
        var version: UInt64 = 0
        while let (status, now) = await registration.next(after: version), status.state != .withdrawn { version = now }
    }
}

/// A raw connection to the daemon.
final class RawClient {
    let descriptor: Int32

    /// - Parameter patience: how long a call waits for the other side.
    init(_ path: String, patience: Duration = .seconds(10)) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        let parts = patience.components
        var time = timeval(tv_sec: Int(parts.seconds), tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    @discardableResult func write(_ bytes: [UInt8]) async -> Int {
        await Self.blocking { [descriptor] in send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    @discardableResult func write(_ text: String) async -> Int { await write(Array(text.utf8)) }

    /// Up to `count` bytes; empty if the other side has closed, nil if it says nothing for too long.
    func read(_ count: Int = 65_536) async -> [UInt8]? {
        await Self.blocking { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: count)
            let received = recv(descriptor, &buffer, count, 0)
            return received < 0 ? (errno == EAGAIN ? nil : []) : Array(buffer[..<received])
        }
    }

    /// Waits, without reading, until the other side closes; false after a minute.
    func untilClosed() async -> Bool {
        await Self.blocking { [descriptor] in
            // Hanging up is reported without being requested (poll(2)).
            var end = pollfd(fd: descriptor, events: 0, revents: 0)
            return poll(&end, 1, 60_000) == 1
        }
    }

    /// Signals the end of input, and waits until the other side has closed.
    func finish() async {
        shutdown(descriptor, Int32(SHUT_WR))
        _ = await readAll()
    }

    /// Reads everything until the other side closes.
    func readAll() async -> String {
        var all: [UInt8] = []
        while let bytes = await read(), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// On a separate thread: the daemon shares this process and needs the threads of the task pool.
    private static func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
