import DNSSD
import Discovery
import DiscoverySystem

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
    private var connection: BusConnection?

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
        guard !interfaces.isEmpty else { return report([]) }
        let sockets = BusAddress.sockets(in: BusAddress.current)
        connection = BusConnection(to: sockets, on: timer.loop) { [weak self] in self?.read() }
        guard connection != nil else { return report([]) }
        timer.fire = { [weak self] in self?.finish() }
        timer.set(after: Self.limit)
    }

    /// Nothing more is reported.
    func end() {
        timer.free()
        connection?.close()
        connection = nil
    }

    private func finish() {
        end()
        report(conversation.answers)
    }

    private func read() {
        guard let connection else { return }
        guard let bytes = connection.read() else { return finish() }
        for step in conversation.received(bytes) {
            switch step {
            case .send(let bytes): guard connection.send(bytes) else { return finish() }
            case .answered:
                guard conversation.answers.allSatisfy({ !$0.addresses.isEmpty }) else { continue }
                timer.deadline = min(timer.deadline ?? .now, .now + Self.gathering)
            case .over: return finish()
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
