internal import CLinux
internal import DiscoveryDaemon
internal import DiscoverySystem
internal import Libc

/// Those who are connected to listening sockets, within the bounds of a `ConnectionTable`. Used only on the loop's thread.
final class Clients<State> {
    final class Client {
        let descriptor: Int32
        /// How far it is with what it asks.
        var state: State
        fileprivate(set) var watch: LoopWatch?

        fileprivate init(_ descriptor: Int32, _ state: State) { (self.descriptor, self.state) = (descriptor, state) }
    }

    /// Connections that are accepted in one turn.
    private static var acceptedAtOnce: Int { 32 }

    /// Something has come from a client, or there is room for what it is told; with the events of poll(2).
    var ready: (_ id: UInt64, Client, _ events: Int16) -> Void = { _, _, _ in }

    private let loop: EventLoop
    private let newID: () -> UInt64
    private let acceptOne: (Int32) -> Int32
    private var table: ConnectionTable
    private var clients: [UInt64: Client] = [:]
    private var listeners: [Int32: LoopWatch] = [:]

    /// - Parameter acceptOne: accept(2), but in tests.
    init(
        loop: EventLoop, _ limits: ConnectionTable.Limits, newID: @escaping () -> UInt64,
        acceptOne: @escaping (Int32) -> Int32 = { clinux_accept($0) }
    ) {
        (self.loop, self.newID, self.acceptOne) = (loop, newID, acceptOne)
        table = ConnectionTable(limits: limits)
    }

    subscript(id: UInt64) -> Client? { clients[id] }

    /// Serves who connects to a listening socket, until `leave`. One that the service manager passed may be blocking.
    /// - Parameter admit: with whose connections one is counted, and its first state; nil closes it.
    func listen(_ descriptor: Int32, admit: @escaping (Int32) -> (owner: ConnectionTable.Owner, state: State)?) {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { return }
        listeners[descriptor] = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] in
            self?.accept($0.descriptor, admit)
        }
    }

    func leave(_ descriptor: Int32) { listeners.removeValue(forKey: descriptor)?.free() }

    private func accept(_ listener: Int32, _ admit: (Int32) -> (owner: ConnectionTable.Owner, state: State)?) {
        for _ in 0..<Self.acceptedAtOnce {
            let descriptor = acceptOne(listener)
            guard descriptor >= 0 else {
                let code = errno
                // Who connects stays in the queue, and would be reported again at once: until the next `sweep` nobody is accepted.
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) { listeners[listener]?.events = 0 }
                return
            }
            let id = newID()
            guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, let (owner, state) = admit(descriptor),
                hasRoom(for: id, of: owner)
            else {
                close(descriptor)
                continue
            }
            let client = Client(descriptor, state)
            clients[id] = client
            client.watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self, weak client] in
                guard let self, let client else { return }
                ready(id, client, $0.returned)
            }
        }
    }

    private func hasRoom(for id: UInt64, of owner: ConnectionTable.Owner) -> Bool {
        switch table.connected(id, of: owner, now: BootTime.now) {
        case .accepted: return true
        case .replacing(let other):
            end(other)
            return true
        case .refused: return false
        }
    }

    /// Bytes have come from a client.
    func received(_ id: UInt64) { table.received(id, now: BootTime.now) }

    /// A client does something else now.
    func became(_ activity: ConnectionTable.Activity, _ id: UInt64) { table.became(activity, id, now: BootTime.now) }

    func end(_ id: UInt64) {
        table.closed(id)
        guard let client = clients.removeValue(forKey: id) else { return }
        client.watch?.free()
        close(client.descriptor)
    }

    /// Ends those whose time is over, and accepts again where nothing was left for it. To be called each second.
    func sweep() {
        for (id, _) in table.takeExpired(now: BootTime.now) { end(id) }
        for watch in listeners.values { watch.events = Int16(POLLIN) }
    }

    func endAll() {
        for id in clients.keys { end(id) }
        for descriptor in listeners.keys { leave(descriptor) }
    }
}
