import DNSSD
import Discovery
import DiscoverySystem
import Libc

/// Carries out a `CachedServiceConversation` with the system bus, once and briefly. Used only on the loop's thread; never blocks.
final class CachedServiceLookup {
    /// What is cached is told within milliseconds.
    private static let limit = Duration.milliseconds(250)
    /// How long other interfaces and the other family may lag behind the first address.
    private static let gathering = Duration.milliseconds(20)

    private let interfaces: [NetworkInterface]
    private let report: ([CachedServiceConversation.Answer]) -> Void
    private let timer: LoopTimer
    private var conversation: CachedServiceConversation
    private var watch: LoopWatch?

    /// - Parameter report: receives the answers once, unless `end` is called before.
    init(
        _ instance: ServiceInstance, on interfaces: [NetworkInterface], over family: IPAddress.Family?, loop: EventLoop,
        report: @escaping ([CachedServiceConversation.Answer]) -> Void
    ) {
        self.interfaces = interfaces
        self.report = report
        timer = LoopTimer(loop: loop)
        conversation = CachedServiceConversation(
            about: instance, on: interfaces.map { Int32(clamping: $0.index) }, over: family)
    }

    func start() {
        let addresses = BusAddress.sockets(in: BusAddress.current).lazy.compactMap {
            SocketAddress(unix: Array($0.utf8))
        }
        guard !interfaces.isEmpty, let descriptor = addresses.compactMap({ try? Sockets.connected(to: $0) }).first
        else {
            return report([])
        }
        watch = LoopWatch(loop: timer.loop, descriptor: descriptor) { [weak self] _ in self?.read() }
        timer.fire = { [weak self] in self?.finish() }
        timer.set(after: Self.limit)
        send(BusStream.greeting(user: geteuid()))
    }

    /// Nothing more is reported.
    func end() {
        timer.free()
        guard let watch else { return }
        watch.free()
        close(watch.descriptor)
        self.watch = nil
    }

    private func finish() {
        end()
        report(conversation.answers)
    }

    private func send(_ bytes: [UInt8]) {
        guard let watch else { return }
        // A few hundred bytes for each interface: they fit the socket's buffer, or something is wrong.
        let count = unsafe Libc.send(watch.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if count != bytes.count { finish() }
    }

    private func read() {
        guard let watch else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(watch.descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return finish() }
        for step in conversation.received(buffer[..<count]) where self.watch != nil {
            switch step {
            case .send(let bytes): send(bytes)
            case .answered:
                guard conversation.answers.allSatisfy({ !$0.addresses.isEmpty }) else { continue }
                timer.deadline = min(timer.deadline ?? .now, .now + Self.gathering)
            case .over: finish()
            }
        }
    }
}

/// A caller's handle of a lookup.
final class CachedServiceQuery: EngineOperation {
    private let lookup: LoopBound<CachedServiceLookup>

    /// Starts the lookup.
    init(_ lookup: CachedServiceLookup, on loop: EventLoop) {
        self.lookup = LoopBound(to: loop, lookup)
        self.lookup.post { $0.start() }
    }

    func cancel() { lookup.post { $0.end() } }

    func cancel(waitingAtMost limit: Duration) async -> Bool {
        let gate = Gate()
        lookup.post {
            $0.end()
            gate.open()
        }
        return await gate.wait(atMost: limit)
    }
}
