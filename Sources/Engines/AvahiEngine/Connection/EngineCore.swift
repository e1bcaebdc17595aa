import CAvahi
import DNSSD
import Discovery
import DiscoverySystem

/// An operation of the engine, which outlives single connections. Used only on the loop's thread.
protocol CoreOperation: AnyObject {
    /// A connection is up: create the needed objects with it.
    func connected(_ connection: AvahiConnection)
    /// Publishing has become possible or impossible.
    func publishing(_ isPossible: Bool)
    /// The connection and every object made with it are gone, or there is none yet.
    func disconnected(_ reason: String)
    /// The operation is over: free everything.
    func end()
}

/// The engine's state: one connection, and the operations that use it. Used only on the loop's thread.
final class EngineCore {
    let loop: EventLoop
    let lines: LookLines
    let troubles = Troubles()
    let links: LinkMonitor
    let groupConnections: EntryGroupConnections
    let turns: BoundedWorkQueue
    /// Whose names are known; nil where no one knows.
    var known: AvahiEngine.KnownNames?
    private var lifecycle = ClientLifecycle()
    private var connection: AvahiConnection?
    private var connectionNumber = 0
    private var operations: [UInt64: any CoreOperation] = [:]
    private let retryTimer: LoopTimer
    private let heldTimer: LoopTimer

    init(loop: EventLoop) {
        self.loop = loop
        links = LinkMonitor(loop: loop)
        lines = LookLines(loop: loop)
        groupConnections = EntryGroupConnections(loop: loop)
        turns = BoundedWorkQueue(loop: loop)
        retryTimer = LoopTimer(loop: loop)
        heldTimer = LoopTimer(loop: loop)
        retryTimer.fire = { [weak self] in
            guard let self else { return }
            self.carryOut(self.lifecycle.retryIsDue())
        }
        heldTimer.fire = { [weak self] in self?.lifecycle.held() }
        groupConnections.failed = { [weak self] error in
            guard let self else { return }
            // All connections go to the same avahi-daemon: what ended one ends them all.
            self.changed(to: .failed(error), of: self.connectionNumber)
        }
    }

    func start(_ operation: any CoreOperation, id: UInt64) {
        // The loop has ended, so nothing would run the operation.
        guard lifecycle.standing != .over else { return operation.disconnected("the engine was shut down") }
        operations[id] = operation
        let first = lifecycle.wanted()
        // Connecting reports its outcome to every operation, including this one.
        guard first.isEmpty else { return carryOut(first) }
        switch lifecycle.standing {
        case .up(let publishing):
            guard let connection else { return }
            operation.connected(connection)
            operation.publishing(publishing)
        case .down(let reason): operation.disconnected(reason)
        case .unknown, .over: break
        }
    }

    func end(id: UInt64) {
        guard let operation = operations.removeValue(forKey: id) else { return }
        operation.end()
        // Closes an unused connection: D-Bus and avahi-daemon keep state for each.
        if operations.isEmpty { carryOut(lifecycle.unwanted()) }
    }

    func update(id: UInt64, port: Port?, txt: TXTRecord) {
        (operations[id] as? PublishOperation)?.update(port: port, txt: txt)
    }

    /// - Parameter isConfirmed: wait until avahi-daemon has withdrawn everything published.
    func endAll(isConfirmed: Bool) {
        let wasPublishing =
            lifecycle.isUp && operations.values.contains { ($0 as? PublishOperation)?.isRegistered == true }
        lifecycle.shutDown()
        // A single call: avahi-daemon frees everything a client had, with goodbyes.
        connection?.close()
        groupConnections.close()
        if isConfirmed, wasPublishing { awaitGoodbyes() }
        for id in operations.keys.sorted() { end(id: id) }
        links.free()
        turns.free()
        retryTimer.free()
        heldTimer.free()
    }

    /// Returns when avahi-daemon has noticed the closed connections; up to 25 s later if it hangs. The bus reports them before it forwards
    /// the first question of another connection, and avahi-daemon answers in order.
    private func awaitGoodbyes() { (try? AvahiConnection(loop: loop) { _ in })?.close() }

    /// Waits for an answer from avahi-daemon, if connected.
    func probe() { if lifecycle.isUp { connection?.probe() } }

    /// The number of objects that avahi-daemon holds for this engine.
    var objectCount: Int { (connection?.objectCount ?? 0) + groupConnections.objectCount }
    var operationCount: Int { operations.count }

    private func carryOut(_ actions: [ClientLifecycle.Action]) {
        for action in actions {
            switch action {
            case .connect: open()
            case .disconnect: disconnect()
            case .retry(let delay): retryTimer.set(after: delay)
            case .up: up()
            case .publishing(let isPossible): for operation in inOrder { operation.publishing(isPossible) }
            case .down(let reason): down(reason)
            }
        }
    }

    /// Operations receive reports in the order they started.
    private var inOrder: [any CoreOperation] { operations.sorted { $0.key < $1.key }.map(\.value) }

    private func open() {
        connectionNumber += 1
        let number = connectionNumber
        do throws(DiscoveryError) {
            let made = try AvahiConnection(loop: loop) { [weak self] state in self?.changed(to: state, of: number) }
            connection = made
            stateChanged(to: made.currentState)
        } catch {
            carryOut(lifecycle.failed(error))
        }
    }

    private func changed(to state: AvahiConnection.State, of number: Int) {
        guard number == connectionNumber else { return }
        guard case .failed = state else { return stateChanged(to: state) }
        // A client must not be freed within its own callback (docs of avahi_client_free).
        let timer = LoopTimer(loop: loop)
        timer.fire = { [weak self, unowned timer] in
            timer.free()
            guard let self, number == self.connectionNumber else { return }
            self.stateChanged(to: state)
        }
        timer.set(after: .zero)
    }

    private func stateChanged(to state: AvahiConnection.State) {
        carryOut(lifecycle.changed(to: state))
    }

    private func disconnect() {
        connectionNumber += 1
        lines.clear()
        connection?.close()
        groupConnections.close()
        connection = nil
    }

    private func up() {
        guard let connection else { return }
        for operation in inOrder { operation.connected(connection) }
        heldTimer.set(after: .seconds(10))
    }

    private func down(_ reason: String) {
        lines.clear()
        for operation in inOrder { operation.disconnected(reason) }
    }
}

/// Why answers may be incomplete now. Operations write it on the loop's thread; any thread may read it.
final class Troubles: Sendable {
    /// An operation and the kind of its trouble.
    struct Key: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case browsing
            case cache(AvahiPath)
        }

        let owner: ObjectIdentifier
        let kind: Kind
    }

    private let noted = Locked<[Key: String]>([:])

    /// Each text once.
    var texts: [String] { Set(noted.withLock { $0 }.values).sorted() }

    /// Records an operation's trouble; nil clears it.
    func note(_ kind: Key.Kind, of owner: AnyObject, _ text: String?) {
        let key = Key(owner: ObjectIdentifier(owner), kind: kind)
        noted.withLock { $0[key] = text }
    }

    /// Clears the troubles of an operation that has ended or restarts.
    func forget(_ owner: AnyObject) {
        let owner = ObjectIdentifier(owner)
        noted.withLock { noted in noted = noted.filter { $0.key.owner != owner } }
    }
}
