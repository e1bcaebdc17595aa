import DiscoverySystem

/// Notices when an avahi-daemon appears on the system bus beside a private one. Used only on the loop's thread; never blocks.
final class SystemAvahiWatch {
    /// How often to look for a bus that is missing or has gone.
    private static let interval = Duration.seconds(1)

    /// Called when an avahi-daemon appears that was not there before; never from within a call to this object.
    var appeared: () -> Void = {}

    private enum Owner {
        /// The bus has not answered yet.
        case unknown
        /// There is none, or no bus.
        case absent
        case there
    }

    private let loop: EventLoop
    private let sockets: [String]
    private let timer: LoopTimer
    private var connection: BusConnection?
    private var conversation = NameOwnerConversation(about: "org.freedesktop.Avahi")
    private var owner = Owner.unknown

    /// - Parameter address: the system bus's address in D-Bus syntax.
    init(loop: EventLoop, address: String) {
        self.loop = loop
        sockets = BusAddress.sockets(in: address)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.connect() }
    }

    /// Starts watching. An avahi-daemon that is already there does not count as appearing.
    func start() {
        guard connection == nil, timer.deadline == nil else { return }
        owner = .unknown
        connect()
    }

    func stop() {
        timer.deadline = nil
        disconnect()
    }

    func free() {
        stop()
        timer.free()
    }

    private func connect() {
        conversation = NameOwnerConversation(about: "org.freedesktop.Avahi")
        connection = BusConnection(to: sockets, on: loop) { [weak self] in self?.read() }
        if connection == nil { becameUnknown() }
    }

    private func becameUnknown() {
        disconnect()
        owner = .absent
        timer.set(after: Self.interval)
    }

    private func disconnect() {
        connection?.close()
        connection = nil
    }

    private func read() {
        guard let connection else { return }
        guard let bytes = connection.read() else { return becameUnknown() }
        for step in conversation.received(bytes) {
            switch step {
            case .send(let bytes): guard connection.send(bytes) else { return becameUnknown() }
            case .over: return becameUnknown()
            case .owned(let isNow):
                let before = owner
                owner = isNow ? .there : .absent
                if isNow, before == .absent { return appeared() }
            }
        }
    }
}
