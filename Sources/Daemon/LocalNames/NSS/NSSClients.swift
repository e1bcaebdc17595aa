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
    /// Connections that are accepted in one turn.
    private static let acceptedAtOnce = 32

    private final class Client {
        let descriptor: Int32
        let user: UInt32
        var watch: LoopWatch?
        var line: [UInt8] = []
        var request: NSSRequest?

        init(_ descriptor: Int32, user: UInt32) { (self.descriptor, self.user) = (descriptor, user) }
    }

    private let loop: EventLoop
    private var table = ConnectionTable(limits: NSSClients.limits)
    private var clients: [UInt64: Client] = [:]
    private var listeners: [Int32: LoopWatch] = [:]
    private let newTicket: () -> UInt64
    private let ask: (RecordDesk.Asked) -> Void
    private let machine: ThisMachine

    /// - Parameters:
    ///   - newTicket: a number that no other request has.
    ///   - ask: asks the links.
    init(
        loop: EventLoop, machine: ThisMachine, newTicket: @escaping () -> UInt64,
        ask: @escaping (RecordDesk.Asked) -> Void
    ) {
        (self.loop, self.machine, self.newTicket, self.ask) = (loop, machine, newTicket, ask)
    }

    /// Serves who connects to a listening socket, until `leave`. One that the service manager passed may be blocking.
    func listen(_ descriptor: Int32) {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { return }
        listeners[descriptor] = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] in
            self?.accept($0.descriptor)
        }
    }

    func leave(_ descriptor: Int32) { listeners.removeValue(forKey: descriptor)?.free() }

    private func accept(_ listener: Int32) {
        for _ in 0..<Self.acceptedAtOnce {
            let descriptor = clinux_accept(listener)
            guard descriptor >= 0 else { return }
            guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, let user = Self.user(of: descriptor) else {
                close(descriptor)
                continue
            }
            let ticket = newTicket()
            switch table.connected(ticket, of: .user(user), now: BootTime.now) {
            case .accepted: break
            case .replacing(let other): end(other)
            case .refused:
                close(descriptor)
                continue
            }
            let client = Client(descriptor, user: user)
            clients[ticket] = client
            client.watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] _ in self?.read(ticket) }
        }
    }

    /// The user at the other end (SO_PEERCRED, unix(7)).
    private static func user(of descriptor: Int32) -> UInt32? {
        // `struct ucred` of <sys/socket.h>, which Glibc's module shows to GNU sources only: pid, uid, gid.
        var credentials: (Int32, UInt32, UInt32) = (0, .max, .max)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.1 : nil
    }

    private func read(_ ticket: UInt64) {
        guard let client = clients[ticket] else { return }
        var buffer = [UInt8](repeating: 0, count: NSSRequest.longestLine + 1)
        let count = unsafe recv(client.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { end(ticket) }
            return
        }
        // After its line it has nothing to say.
        guard client.request == nil else { return }
        table.received(ticket, now: BootTime.now)
        client.line += buffer[..<count]
        guard let last = client.line.firstIndex(of: 0x0A) else {
            if client.line.count > NSSRequest.longestLine { answer(ticket, NSSFault.invalidOperation.line) }
            return
        }
        serve(ticket, client, NSSRequest(client.line[..<last]))
    }

    private func serve(_ ticket: UInt64, _ client: Client, _ request: NSSRequest) {
        client.request = request
        client.line = []
        guard let question = request.question else { return answer(ticket, request.ownAnswer) }
        // What the links say of this machine counts nothing here.
        let networks = machine.networks
        if let records = networks.records(for: question.request, of: machine.name) {
            return answer(ticket, request.line(records))
        }
        if case .address(let address, _) = request, !networks.isOfLink(address) {
            return answer(ticket, request.ownAnswer)
        }
        table.became(.serving, ticket, now: BootTime.now)
        ask(
            RecordDesk.Asked(
                question.request, wanted: question.wanted, ticket: ticket, by: .user(client.user)))
    }

    /// The links' answer has come.
    func answered(_ ticket: UInt64, _ answer: DeskAnswer) {
        guard let request = clients[ticket]?.request else { return }
        switch answer {
        case .records(let records): self.answer(ticket, request.line(records))
        // Without a line: the C library asks its next source.
        case .refused: end(ticket)
        }
    }

    /// One line fits a socket's buffer; who does not take it goes without.
    private func answer(_ ticket: UInt64, _ line: String) {
        guard let client = clients[ticket] else { return }
        let bytes = Array(line.utf8)
        _ = unsafe send(client.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        end(ticket)
    }

    private func end(_ ticket: UInt64) {
        table.closed(ticket)
        guard let client = clients.removeValue(forKey: ticket) else { return }
        client.watch?.free()
        close(client.descriptor)
    }

    /// Ends those whose time is over.
    func sweep() { for (ticket, _) in table.takeExpired(now: BootTime.now) { end(ticket) } }

    func endAll() {
        for ticket in clients.keys { end(ticket) }
        for descriptor in listeners.keys { leave(descriptor) }
    }
}
