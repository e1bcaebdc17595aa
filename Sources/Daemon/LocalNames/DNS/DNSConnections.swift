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
    /// Queries of one connection that are answered; who has more connects again.
    private static let mostQueries = 1000

    private struct Stream {
        enum Activity { case reading, serving, sending }

        let asker: DNSAsker
        var activity = Activity.reading
        var queries = 0
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []

        init(_ asker: DNSAsker) { self.asker = asker }
    }

    private typealias Client = Clients<Stream>.Client

    /// Takes a query's bytes; it has them answered, or ends the connection.
    var serve: ([UInt8], DNSAsker, ID) -> Void = { _, _, _ in }

    private let machine: ThisMachine
    private let clients: Clients<Stream>

    init(loop: EventLoop, machine: ThisMachine, newTicket: @escaping () -> UInt64) {
        self.machine = machine
        clients = Clients(loop: loop, Self.limits, newID: newTicket)
        clients.ready = { [unowned self] in ready($0, $1, $2) }
    }

    func listen(_ descriptor: Int32, at own: IPAddress) {
        clients.listen(descriptor) { [unowned self] connection in
            let peer = unsafe SocketAddress(filledBy: { unsafe getpeername(connection, $0, $1) == 0 })
            guard let source = peer?.address, let asker = machine.networks.asker(source, at: own, over: nil) else {
                return nil
            }
            // Neighbours take no room from this machine's programs, of whom TCP does not say whose they are.
            return (asker == .thisMachine ? .user(.max) : ConnectionTable.Owner(source), Stream(asker))
        }
    }

    private func ready(_ id: ID, _ client: Client, _ events: Int16) {
        switch client.state.activity {
        case .reading: read(id, client)
        case .sending: flush(id, client)
        // It has gone: nothing else is waited for.
        case .serving: if Int32(events) & (POLLERR | POLLHUP) != 0 { end(id) }
        }
        advance(id, client)
    }

    private func read(_ id: ID, _ client: Client) {
        var buffer = [UInt8](repeating: 0, count: DNSQuery.longest + 2 - client.state.input.count)
        let count = unsafe recv(client.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { end(id) }
            return
        }
        clients.received(id)
        client.state.input += buffer[..<count]
    }

    /// Serves the queries that are there.
    private func advance(_ id: ID, _ client: Client) {
        while clients[id] === client, client.state.activity == .reading, client.state.input.count >= 2 {
            let length = Int(client.state.input[0]) << 8 | Int(client.state.input[1])
            guard length <= DNSQuery.longest, client.state.queries < Self.mostQueries else { return end(id) }
            guard client.state.input.count >= 2 + length else { return }
            let query = Array(client.state.input[2..<2 + length])
            client.state.input.removeFirst(2 + length)
            client.state.queries += 1
            become(.serving, id, client)
            serve(query, client.state.asker, id)
        }
    }

    /// Answers the query that `serve` was called for, before that returns.
    func answer(_ id: ID, _ bytes: [UInt8]) {
        guard let client = clients[id], client.state.activity == .serving, let length = UInt16(exactly: bytes.count)
        else {
            return end(id)
        }
        client.state.output = ([UInt8(length >> 8), UInt8(truncatingIfNeeded: length)] + bytes)[...]
        become(.sending, id, client)
        flush(id, client)
    }

    /// The same after that has returned.
    func answerLater(_ id: ID, _ bytes: [UInt8]) {
        answer(id, bytes)
        if let client = clients[id] { advance(id, client) }
    }

    private func flush(_ id: ID, _ client: Client) {
        let count = unsafe client.state.output.withUnsafeBytes {
            unsafe send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 else {
            if errno != EAGAIN && errno != EINTR { end(id) }
            return
        }
        client.state.output = client.state.output.dropFirst(count)
        if client.state.output.isEmpty { become(.reading, id, client) }
    }

    private func become(_ activity: Stream.Activity, _ id: ID, _ client: Client) {
        client.state.activity = activity
        switch activity {
        case .reading:
            client.state.output = []
            client.watch?.events = Int16(POLLIN)
            clients.became(client.state.input.isEmpty ? .idle : .receiving, id)
        case .serving:
            client.watch?.events = 0
            clients.became(.serving, id)
        case .sending:
            client.watch?.events = Int16(POLLOUT)
            clients.became(.sending, id)
        }
    }

    func end(_ id: ID) { clients.end(id) }

    /// Ends those whose time is over.
    func sweep() { clients.sweep() }

    func endAll() { clients.endAll() }
}
