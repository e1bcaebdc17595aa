internal import CLinux
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc

/// Connections of DNS over TCP (RFC 7766): each has its queries answered one after the other. Used only on the loop's thread.
final class DNSConnections {
    typealias ID = UInt64

    private static var limits: ConnectionTable.Limits {
        var limits = ConnectionTable.Limits()
        (limits.clients, limits.perUser) = (64, 16)
        (limits.idle, limits.request) = (.seconds(10), .seconds(5))
        (limits.sending, limits.sendingOverNetwork) = (.seconds(5), .seconds(5))
        return limits
    }
    /// Connections that are accepted in one turn.
    private static let acceptedAtOnce = 16
    /// Queries of one connection that are answered; who has more connects again.
    private static let mostQueries = 1000

    private final class Client {
        enum Activity { case reading, serving, sending }

        let descriptor: Int32
        let asker: DNSAsker
        var watch: LoopWatch?
        var activity = Activity.reading
        var queries = 0
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []

        init(_ descriptor: Int32, _ asker: DNSAsker) { (self.descriptor, self.asker) = (descriptor, asker) }
    }

    /// Takes a query's bytes; it has them answered, or ends the connection.
    var serve: ([UInt8], DNSAsker, ID) -> Void = { _, _, _ in }

    private let loop: EventLoop
    private let machine: ThisMachine
    private let newTicket: () -> UInt64
    private var table = ConnectionTable(limits: DNSConnections.limits)
    private var clients: [ID: Client] = [:]
    private var listeners: [LoopWatch] = []

    init(loop: EventLoop, machine: ThisMachine, newTicket: @escaping () -> UInt64) {
        (self.loop, self.machine, self.newTicket) = (loop, machine, newTicket)
    }

    func listen(_ descriptor: Int32, at own: IPAddress) {
        listeners.append(
            LoopWatch(loop: loop, descriptor: descriptor) { [unowned self] in accept($0.descriptor, at: own) })
    }

    private func accept(_ listener: Int32, at own: IPAddress) {
        for _ in 0..<Self.acceptedAtOnce {
            let descriptor = clinux_accept(listener)
            guard descriptor >= 0 else { return }
            let peer = unsafe SocketAddress(filledBy: { unsafe getpeername(descriptor, $0, $1) == 0 })
            guard let source = peer?.address, let asker = machine.networks.asker(source, at: own, over: nil),
                fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
            else {
                close(descriptor)
                continue
            }
            let id = newTicket()
            // Neighbours take no room from this machine's programs, of whom TCP does not say whose they are.
            let owner = asker == .thisMachine ? ConnectionTable.Owner.user(.max) : ConnectionTable.Owner(source)
            switch table.connected(id, of: owner, now: BootTime.now) {
            case .accepted: break
            case .replacing(let other): end(other)
            case .refused:
                close(descriptor)
                continue
            }
            let client = Client(descriptor, asker)
            clients[id] = client
            client.watch = LoopWatch(loop: loop, descriptor: descriptor) { [unowned self] in ready(id, $0.returned) }
        }
    }

    private func ready(_ id: ID, _ events: Int16) {
        guard let client = clients[id] else { return }
        switch client.activity {
        case .reading: read(id, client)
        case .sending: flush(id, client)
        // It has gone: nothing else is waited for.
        case .serving: if Int32(events) & (POLLERR | POLLHUP) != 0 { end(id) }
        }
        advance(id, client)
    }

    private func read(_ id: ID, _ client: Client) {
        var buffer = [UInt8](repeating: 0, count: DNSQuery.longest + 2 - client.input.count)
        let count = unsafe recv(client.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { end(id) }
            return
        }
        table.received(id, now: BootTime.now)
        client.input += buffer[..<count]
    }

    /// Serves the queries that are there.
    private func advance(_ id: ID, _ client: Client) {
        while clients[id] === client, client.activity == .reading, client.input.count >= 2 {
            let length = Int(client.input[0]) << 8 | Int(client.input[1])
            guard length <= DNSQuery.longest, client.queries < Self.mostQueries else { return end(id) }
            guard client.input.count >= 2 + length else { return }
            let query = Array(client.input[2..<2 + length])
            client.input.removeFirst(2 + length)
            client.queries += 1
            become(.serving, id, client)
            serve(query, client.asker, id)
        }
    }

    /// Answers the query that `serve` was called for, before that returns.
    func answer(_ id: ID, _ bytes: [UInt8]) {
        guard let client = clients[id], client.activity == .serving, let length = UInt16(exactly: bytes.count) else {
            return end(id)
        }
        client.output = ([UInt8(length >> 8), UInt8(truncatingIfNeeded: length)] + bytes)[...]
        become(.sending, id, client)
        flush(id, client)
    }

    /// The same after that has returned.
    func answerLater(_ id: ID, _ bytes: [UInt8]) {
        answer(id, bytes)
        if let client = clients[id] { advance(id, client) }
    }

    private func flush(_ id: ID, _ client: Client) {
        let count = unsafe client.output.withUnsafeBytes {
            unsafe send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 else {
            if errno != EAGAIN && errno != EINTR { end(id) }
            return
        }
        client.output = client.output.dropFirst(count)
        if client.output.isEmpty { become(.reading, id, client) }
    }

    private func become(_ activity: Client.Activity, _ id: ID, _ client: Client) {
        client.activity = activity
        switch activity {
        case .reading:
            client.output = []
            client.watch?.events = Int16(POLLIN)
            table.became(client.input.isEmpty ? .idle : .receiving, id, now: BootTime.now)
        case .serving:
            client.watch?.events = 0
            table.became(.serving, id, now: BootTime.now)
        case .sending:
            client.watch?.events = Int16(POLLOUT)
            table.became(.sending, id, now: BootTime.now)
        }
    }

    func end(_ id: ID) {
        table.closed(id)
        guard let client = clients.removeValue(forKey: id) else { return }
        client.watch?.free()
        close(client.descriptor)
    }

    /// Ends those whose time is over.
    func sweep() { for (id, _) in table.takeExpired(now: BootTime.now) { end(id) } }

    func endAll() {
        for id in clients.keys { end(id) }
        for listener in listeners { listener.free() }
        listeners = []
    }
}
