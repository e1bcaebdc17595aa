internal import CLinux
internal import DNSMessage
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc
internal import MulticastEngine

/// Those who are connected to the socket of libnss-mdns: each asks one line, gets one, and goes. Used only on the loop's thread.
final class NSSClients {
    /// Bounds: the C library of every program asks, one connection a question.
    private static var limits: ConnectionTable.Limits {
        var limits = ConnectionTable.Limits()
        (limits.clients, limits.perUser, limits.forRoot) = (256, 64, 128)
        (limits.idle, limits.request, limits.sending) = (.seconds(5), .seconds(5), .seconds(1))
        return limits
    }

    /// Who asks, and how much of its line has come.
    private struct Asker {
        let user: UInt32
        var line: [UInt8] = []
        var request: NSSRequest?
    }

    private let clients: Clients<Asker>
    private let ask: (RecordDesk.Asked) -> Void
    private let machine: ThisMachine
    /// No question has an answer, not even `HELP`, by which `doctor` knows who answers names.
    var refusesAll = false

    /// - Parameters:
    ///   - newTicket: a number that no other request has.
    ///   - ask: asks the links.
    init(
        loop: EventLoop, machine: ThisMachine, newTicket: @escaping () -> UInt64,
        ask: @escaping (RecordDesk.Asked) -> Void
    ) {
        (self.machine, self.ask) = (machine, ask)
        clients = Clients(loop: loop, Self.limits, newID: newTicket)
        clients.ready = { [unowned self] id, client, _ in read(id, client) }
    }

    /// Serves who connects to a listening socket, until `leave`.
    func listen(_ descriptor: Int32) {
        clients.listen(descriptor) { connection in
            Sockets.peer(of: connection).map { (.user($0.user), Asker(user: $0.user)) }
        }
    }

    func leave(_ descriptor: Int32) { clients.leave(descriptor) }

    private func read(_ ticket: UInt64, _ client: Clients<Asker>.Client) {
        var buffer = [UInt8](repeating: 0, count: NSSRequest.longestLine + 1)
        let count = unsafe recv(client.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { clients.end(ticket) }
            return
        }
        // After its line it has nothing to say.
        guard client.state.request == nil else { return }
        clients.received(ticket)
        client.state.line += buffer[..<count]
        let line = client.state.line
        guard let last = line.firstIndex(of: 0x0A) else {
            if line.count > NSSRequest.longestLine { answer(ticket, NSSFault.invalidOperation.line) }
            return
        }
        let request = NSSRequest(line[..<last])
        (client.state.request, client.state.line) = (request, [])
        serve(ticket, of: client.state.user, request)
    }

    private func serve(_ ticket: UInt64, of user: UInt32, _ request: NSSRequest) {
        // Without a line: the C library asks its next source.
        guard !refusesAll else { return clients.end(ticket) }
        guard let question = request.question else { return answer(ticket, request.ownAnswer) }
        // What the links say of this machine counts nothing here.
        let networks = machine.networks
        if let records = networks.records(for: question.request, of: machine.name) {
            return answer(ticket, request.line(records))
        }
        if case .address(let address, _) = request, !networks.isOfLink(address) {
            return answer(ticket, request.ownAnswer)
        }
        clients.became(.serving, ticket)
        ask(RecordDesk.Asked(question.request, wanted: question.wanted, ticket: ticket, by: .user(user)))
    }

    /// The links' answer has come.
    func answered(_ ticket: UInt64, _ answer: DeskAnswer) {
        guard let request = clients[ticket]?.state.request else { return }
        switch answer {
        case .records(let records): self.answer(ticket, request.line(records))
        case .refused: clients.end(ticket)
        }
    }

    /// One line fits a socket's buffer; who does not take it goes without.
    private func answer(_ ticket: UInt64, _ line: String) {
        guard let client = clients[ticket] else { return }
        let bytes = Array(line.utf8)
        _ = unsafe send(client.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        clients.end(ticket)
    }

    /// Ends those whose time is over.
    func sweep() { clients.sweep() }

    func endAll() { clients.endAll() }
}
