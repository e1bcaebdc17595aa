internal import CLinux
internal import DNSMessage
internal import DNSSD
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc
internal import MulticastEngine

/// DNS on addresses that are named, over UDP and TCP. Used only on the loop's thread.
final class DNSServer {
    /// Datagrams that are read in one turn.
    private static let mostAtOnce = 64

    /// Who waits for the links.
    private struct Pending {
        enum Way {
            /// A socket, and to where.
            case datagram(Int32, SocketAddress)
            case stream(DNSConnections.ID)
        }

        let query: DNSQuery
        let asker: DNSAsker
        let zone: DomainName
        let way: Way
    }

    /// What is made of a query.
    private enum Outcome {
        /// The answer to what could be read.
        case now([UInt8], DNSQuery?)
        case waits
    }

    private let loop: EventLoop
    private let machine: ThisMachine
    private let newTicket: () -> UInt64
    private let ask: (RecordDesk.Asked) -> Void
    private var budgets = DNSBudgets()
    private var pending: [UInt64: Pending] = [:]
    private var watches: [Int32: LoopWatch] = [:]
    private let connections: DNSConnections
    private var buffer = [UInt8](repeating: 0, count: DNSQuery.longest)
    /// Which of its addresses a datagram was sent to; a socket has one here.
    private var destination = [UInt8](repeating: 0, count: 16)
    private var places: DNSPlaces
    /// Of sockets that the service manager made.
    private var inherited: [String] = []

    /// - Parameters:
    ///   - newTicket: a number that no other request has.
    ///   - ask: asks the links.
    init(
        loop: EventLoop, machine: ThisMachine, at addresses: [DNSListen], _ log: DaemonLog,
        newTicket: @escaping () -> UInt64, ask: @escaping (RecordDesk.Asked) -> Void
    ) {
        (self.loop, self.machine, self.newTicket, self.ask) = (loop, machine, newTicket, ask)
        places = DNSPlaces(addresses, log)
        connections = DNSConnections(loop: loop, machine: machine, newTicket: newTicket)
        connections.serve = { [unowned self] in serve($0, of: $1, on: $2) }
    }

    /// Serves a socket that the service manager made.
    func adopt(_ descriptor: Int32, _ kind: InheritedSocket.Kind) {
        guard serve(descriptor, kind), let name = DNSPlaces.name(of: descriptor), !inherited.contains(name) else {
            return
        }
        inherited.append(name)
    }

    /// - Returns: whether it can be.
    @discardableResult
    private func serve(_ descriptor: Int32, _ kind: InheritedSocket.Kind) -> Bool {
        // On all addresses no answer has an address of its own.
        guard let bound = SocketAddress(of: descriptor)?.address, !bound.isUnspecified,
            fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        else {
            places.refuse()
            return false
        }
        switch kind {
        case .connections: connections.listen(descriptor, at: bound)
        case .datagrams:
            cmulticast_trace(descriptor, bound.family == .ipv4 ? AF_INET : AF_INET6)
            watches[descriptor] = LoopWatch(loop: loop, descriptor: descriptor) { [unowned self] in
                read($0.descriptor, at: bound)
            }
        }
        return true
    }

    /// Binds what is not bound yet, and ends those whose time is over.
    func look() {
        for socket in places.bind() { serve(socket.descriptor, socket.kind) }
        connections.sweep()
    }

    func endAll() {
        connections.endAll()
        for watch in watches.values { watch.free() }
        (watches, pending) = ([:], [:])
        places.close()
    }

    var status: [NamesStatus.Place] { inherited.map { .init($0) } + places.status }

    // MARK: Queries

    private func read(_ socket: Int32, at own: IPAddress) {
        for _ in 0..<Self.mostAtOnce {
            var (count, hops, interface) = (Int32(-1), Int32(-1), UInt32(0))
            let source = unsafe SocketAddress(filledBy: { address, length in
                count = unsafe cmulticast_receive_one(
                    socket, &buffer, Int32(buffer.count), address, length, &hops, &interface, &destination)
                return count >= 0
            })
            guard let source else { return }
            // Nobody asks from port 0, where no answer can go.
            guard count <= buffer.count, let sender = source.address, source.port ?? 0 > 0,
                let asker = machine.networks.asker(sender, at: own, over: interface)
            else { continue }
            let bytes = Array(buffer[..<Int(count)])
            switch outcome(of: bytes, by: .datagram, from: asker, way: .datagram(socket, source)) {
            case .now(let answer, let query): send(answer, to: query, of: asker, at: source, by: socket)
            case .waits, nil: break
            }
        }
    }

    /// A query of a connection.
    private func serve(_ bytes: [UInt8], of asker: DNSAsker, on id: DNSConnections.ID) {
        switch outcome(of: bytes, by: .stream, from: asker, way: .stream(id)) {
        case .now(let answer, _): connections.answer(id, answer)
        case .waits: break
        case nil: connections.end(id)
        }
    }

    /// - Returns: nil for what is no query.
    private func outcome(
        of bytes: [UInt8], by transport: DNSQuery.Transport, from asker: DNSAsker, way: Pending.Way
    ) -> Outcome? {
        switch DNSQuery.read(bytes, by: transport) {
        case .ignored: return nil
        case .faulty(let answer): return .now(answer, nil)
        case .query(let query):
            switch machine.networks.subject(of: query.question) {
            case .foreign: return .now(query.refused, query)
            case .nothing(let zone): return .now(query.none(in: zone, isName: true), query)
            case .links(let request, let wanted, let zone):
                // What the links say of this machine counts nothing here.
                if let own = machine.networks.records(for: request, of: machine.name) {
                    return .now(answer(own, to: query, of: asker, in: zone), query)
                }
                guard budgets.begin(asker) else { return .now(query.later, query) }
                let ticket = newTicket()
                pending[ticket] = Pending(query: query, asker: asker, zone: zone, way: way)
                ask(RecordDesk.Asked(request, wanted: wanted, ticket: ticket, by: asker.account))
                return .waits
            }
        }
    }

    /// The links' answer has come, perhaps to somebody else.
    func answered(_ ticket: UInt64, _ answer: DeskAnswer) {
        guard let item = pending.removeValue(forKey: ticket) else { return }
        budgets.end(item.asker)
        let bytes: [UInt8] =
            switch answer {
            case .records(let records): self.answer(records, to: item.query, of: item.asker, in: item.zone)
            case .refused: item.query.later
            }
        switch item.way {
        case .stream(let id): connections.answerLater(id, bytes)
        case .datagram(let socket, let source): send(bytes, to: item.query, of: item.asker, at: source, by: socket)
        }
    }

    private func answer(
        _ records: [DeskRecord], to query: DNSQuery, of asker: DNSAsker, in zone: DomainName
    ) -> [UInt8] {
        query.answer(
            machine.networks.told(records, to: asker), to: asker, in: zone,
            hasBelow: { machine.hasAlias(below: query.question.name) })
    }

    /// Never waits: what a socket has no room for is lost, as datagrams are.
    private func send(
        _ answer: [UInt8], to query: DNSQuery?, of asker: DNSAsker, at address: SocketAddress, by socket: Int32
    ) {
        var bytes = answer
        if let query, bytes.count > query.length, !budgets.mayBeLong(for: asker, at: BootTime.now) {
            bytes = query.over
        }
        _ = unsafe address.withPointer { unsafe sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
    }
}
