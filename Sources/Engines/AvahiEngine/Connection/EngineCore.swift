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
    private let source: BackendSource
    /// Called once, when the backend will not come back.
    private let backendEnded: @Sendable (DiscoveryError) -> Void
    private var lifecycle = ClientLifecycle()
    private var connection: AvahiConnection?
    private var connectionNumber = 0
    private var operations: [UInt64: any CoreOperation] = [:]
    private var retryTimer: LoopTimer?
    private var heldTimer: LoopTimer?

    /// - Parameter startsToPublishOnly: see `PrivateBackendOptions`.
    init(
        loop: EventLoop, source: BackendSource, startsToPublishOnly: Bool,
        backendEnded: @escaping @Sendable (DiscoveryError) -> Void
    ) {
        self.loop = loop
        self.backendEnded = backendEnded
        self.source = source
        links = LinkMonitor(loop: loop)
        lines = LookLines(loop: loop)
        groupConnections = EntryGroupConnections(loop: loop)
        turns = BoundedWorkQueue(loop: loop)
        groupConnections.failed = { [weak self] error in
            guard let self else { return }
            // All connections go to the same avahi-daemon: what ended one ends them all.
            self.changed(to: .failed(error), of: self.connectionNumber)
        }
        source.tell = { [weak self] in self?.received($0) }
        source.isPrivateWanted = { [weak self] in !startsToPublishOnly || self?.isPublishing ?? false }
    }

    func start(_ operation: any CoreOperation, id: UInt64) {
        // The loop has ended, so nothing would run the operation.
        guard lifecycle.standing != .over else { return operation.disconnected("the engine was shut down") }
        operations[id] = operation
        let first = lifecycle.wanted()
        // Connecting reports its outcome to every operation, including this one.
        guard first.isEmpty else { return carryOut(first) }
        if source.isHeldBack, operation is PublishOperation {
            carryOut(lifecycle.wantedMore())
        }
        switch lifecycle.standing {
        case .up(let publishing):
            guard let connection else { return }
            operation.connected(connection)
            operation.publishing(publishing)
        case .down(let reason): operation.disconnected(source.explanation(reason))
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
        source.stop()
        retryTimer?.free()
        heldTimer?.free()
        retryTimer = nil
        heldTimer = nil
    }

    /// Returns when avahi-daemon has noticed the closed connections; up to 25 s later if it hangs. The bus reports them before it forwards
    /// the first question of another connection, and avahi-daemon answers in order.
    private func awaitGoodbyes() { (try? AvahiConnection(loop: loop) { _ in })?.close() }

    /// Waits for an answer from avahi-daemon, if connected.
    func probe() { if lifecycle.isUp { connection?.probe() } }

    /// The number of objects that avahi-daemon holds for this engine.
    var objectCount: Int { (connection?.objectCount ?? 0) + groupConnections.objectCount }
    var operationCount: Int { operations.count }

    /// A private backend would be started, were anything to be published.
    var isIdle: Bool { source.isHeldBack }

    private var isPublishing: Bool { operations.values.contains { $0 is PublishOperation } }

    private func carryOut(_ actions: [ClientLifecycle.Action]) {
        for action in actions {
            switch action {
            case .connect: connect()
            case .disconnect: disconnect()
            case .retry(let delay): retry(after: delay)
            case .up: up()
            case .publishing(let isPossible): for operation in inOrder { operation.publishing(isPossible) }
            case .down(let reason): down(reason)
            }
        }
    }

    /// Operations receive reports in the order they started.
    private var inOrder: [any CoreOperation] { operations.sorted { $0.key < $1.key }.map(\.value) }

    private func connect() { take(source.prepare()) }

    private func take(_ step: BackendSource.Step) {
        switch step {
        case .connect: open()
        case .wait(let reason): carryOut(lifecycle.waits(reason))
        case .fail(let error): carryOut(lifecycle.failed(error, isPatient: source.isHeldBack))
        }
    }

    private func received(_ event: BackendSource.Event) {
        switch event {
        case .ready: if lifecycle.sourceIsReady() { open() }
        case .ended(let error): carryOut(lifecycle.sourceEnded(error, isPatient: source.isHeldBack))
        case .over(let error):
            carryOut(lifecycle.ended(error))
            backendEnded(error)
        case .again: carryOut(lifecycle.again())
        case .instead(.fail(let error)): carryOut(lifecycle.stillDown(error.message))
        case .instead(let step):
            // Connecting asks the source for a step; here it has given one.
            guard !lifecycle.again().isEmpty else { return }
            disconnect()
            take(step)
        }
    }

    private func open() {
        connectionNumber += 1
        let number = connectionNumber
        do throws(DiscoveryError) {
            defer { source.tried() }
            let made = try AvahiConnection(loop: loop) { [weak self] state in self?.changed(to: state, of: number) }
            connection = made
            stateChanged(to: made.currentState)
        } catch {
            take(source.unreachable(error))
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
        switch state {
        case .connecting: source.isWaitingForDaemon()
        case .registering, .running: source.answered()
        case .failed: break
        }
        carryOut(lifecycle.changed(to: state))
    }

    private func disconnect() {
        connectionNumber += 1
        source.disconnected()
        lines.clear()
        connection?.close()
        groupConnections.close()
        connection = nil
    }

    private func up() {
        guard let connection else { return }
        for operation in inOrder { operation.connected(connection) }
        if heldTimer == nil { heldTimer = LoopTimer(loop: loop) { [weak self] in self?.lifecycle.held() } }
        heldTimer?.set(after: .seconds(10))
    }

    private func down(_ reason: String) {
        let reason = source.explanation(reason)
        lines.clear()
        for operation in inOrder { operation.disconnected(reason) }
    }

    private func retry(after delay: Duration) {
        if retryTimer == nil {
            retryTimer = LoopTimer(loop: loop) { [weak self] in
                guard let self else { return }
                self.carryOut(self.lifecycle.retryIsDue())
            }
        }
        retryTimer?.set(after: delay)
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
