package import DNSMessage
import DNSSD
import DiscoverySystem
import NIOCore
import NIOPosix

/// Carries DNS messages over the network: questions over UDP, or TCP if the answer is truncated; updates over TCP.
///
/// It has one thread. At most 16 messages are under way; others wait for their turn.
package final class DNSClient: DNSExchange {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let transport: NIOLoopBoundBox<DNSTransport>
    private let resolver: ResolverFile
    private let isShutDown = Locked(false)

    /// Creates a client, and starts its thread.
    /// - Parameter resolver: names the servers for `DNSTarget.resolver`.
    package init(resolver: ResolverFile = ResolverFile()) {
        self.resolver = resolver
        let eventLoop = group.any()
        transport = NIOLoopBoundBox.makeBoxSendingValue(DNSTransport(eventLoop: eventLoop), eventLoop: eventLoop)
    }

    deinit { group.shutdownGracefully { _ in } }

    /// The current settings of /etc/resolv.conf.
    package var resolverSettings: ResolverSettings { resolver.settings }

    package func ask(_ question: Question, of whom: DNSTarget) async throws(DNSFailure) -> DNSAnswer {
        let settings = resolver.settings
        let (servers, limits): ([ServerAddress], Attempts.Limits) =
            switch whom {
            case .resolver: (settings.servers, Attempts.Limits(settings))
            case .servers(let servers): (servers, Attempts.Limits())
            }
        let (message, server) = try await run { transport, completion in
            let sorted = transport.silentServers.sorted(servers, at: transport.now)
            return QuestionRun(
                question, attempts: Attempts(servers: sorted, limits: limits), on: transport, completion: completion)
        }
        // An answer from another machine could have been changed on the way (RFC 4035 §4.9.3, resolv.conf(5)).
        let isBelieved = server.address.isLoopback || whom == .resolver && settings.isTrusted
        return DNSAnswer(
            message: message, isAuthenticated: isBelieved && message.flags.contains(.authenticData), server: server)
    }

    package func update(
        _ update: Message, at server: ServerAddress, key: TSIGKey?
    ) async throws(DNSFailure) -> UpdateAnswer {
        try await run { transport, completion in
            UpdateRun(update, to: server, key: key, on: transport, completion: completion)
        }
    }

    /// Closes all connections. Messages under way fail, and so do later ones.
    package func shutdown() async {
        // Messages that were accepted before reach the event loop first.
        let closing = isShutDown.withLock { isShutDown -> EventLoopFuture<Void>? in
            defer { isShutDown = true }
            return isShutDown ? nil : group.any().submit { [transport] in transport.value.close() }
        }
        try? await closing?.get()
        try? await group.shutdownGracefully()
    }

    /// Calls `body` on the event loop.
    /// - Returns: false after `shutdown`.
    private func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        isShutDown.withLock { isShutDown in
            if !isShutDown { group.any().execute(body) }
            return !isShutDown
        }
    }

    private func run<Value: Sendable>(
        _ make: @escaping @Sendable (DNSTransport, @escaping (Result<Value, DNSFailure>) -> Void) -> any TransportRun
    ) async throws(DNSFailure) -> Value {
        let ticket = Ticket(eventLoop: group.any())
        let result: Result<Value, DNSFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAccepted = execute { [transport] in
                    let transport = transport.value
                    let run = make(transport) { continuation.resume(returning: $0) }
                    guard ticket.begin(run) else { return run.giveUp(.silent("cancelled")) }
                    if !transport.enqueue(run) { run.giveUp(.system("too many DNS messages wait")) }
                }
                if !isAccepted { continuation.resume(returning: .failure(DNSTransport.isClosedFailure)) }
            }
        } onCancel: {
            if ticket.cancel() { _ = execute { ticket.giveUp() } }
        }
        return try result.get()
    }
}

/// Connects a task, which may be cancelled at any time from any thread, with its run on the event loop.
private final class Ticket: Sendable {
    private let isCancelled = Locked(false)
    private let run: NIOLoopBoundBox<(any TransportRun)?>

    init(eventLoop: any NIOCore.EventLoop) { run = .makeEmptyBox(eventLoop: eventLoop) }

    /// Stores the run; called on the event loop.
    /// - Returns: false if the task has been cancelled.
    func begin(_ run: any TransportRun) -> Bool {
        self.run.value = run
        return !isCancelled.withLock { $0 }
    }

    /// Marks the task as cancelled; may be called from any thread.
    /// - Returns: true the first time.
    func cancel() -> Bool {
        isCancelled.withLock { isCancelled in
            defer { isCancelled = true }
            return !isCancelled
        }
    }

    /// Gives up the run; called on the event loop.
    func giveUp() { run.value?.giveUp(.silent("cancelled")) }
}
