import DiscoverySystem
import Libc

/// Notices when an avahi-daemon appears on the system bus beside a private one. Used only on the loop's thread; never blocks.
final class SystemAvahiWatch {
    /// How often to look for a bus that is missing or has gone.
    private static let interval = Duration.seconds(1)

    /// Called when an avahi-daemon appears that was not there before; never from within a call to this object.
    var appeared: () -> Void = {}

    private let loop: EventLoop
    private let sockets: [String]
    private let timer: LoopTimer
    private var watch: LoopWatch?
    private var conversation = NameOwnerConversation(about: "org.freedesktop.Avahi")
    /// Nil until the bus has answered or is known to be missing.
    private var isOwned: Bool?

    /// - Parameter address: the system bus's address in D-Bus syntax.
    init(loop: EventLoop, address: String) {
        self.loop = loop
        sockets = BusAddress.sockets(in: address)
        timer = LoopTimer(loop: loop)
        timer.fire = { [weak self] in self?.connect() }
    }

    /// Starts watching. An avahi-daemon that is already there does not count as appearing.
    func start() {
        guard watch == nil, timer.deadline == nil else { return }
        isOwned = nil
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
        let addresses = sockets.lazy.compactMap { SocketAddress(unix: Array($0.utf8)) }
        guard let descriptor = addresses.compactMap({ try? Sockets.connected(to: $0) }).first else {
            return becameUnknown()
        }
        let greeting = BusStream.greeting(user: geteuid())
        conversation = NameOwnerConversation(about: "org.freedesktop.Avahi")
        watch = LoopWatch(loop: loop, descriptor: descriptor) { [weak self] _ in self?.read() }
        send(greeting)
    }

    private func becameUnknown() {
        disconnect()
        isOwned = false
        timer.set(after: Self.interval)
    }

    private func disconnect() {
        guard let watch else { return }
        watch.free()
        close(watch.descriptor)
        self.watch = nil
    }

    private func send(_ bytes: [UInt8]) {
        guard let watch else { return }
        // A few hundred bytes: they fit the socket's buffer, or something is wrong.
        let count = unsafe Libc.send(watch.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if count != bytes.count { becameUnknown() }
    }

    private func read() {
        guard let watch else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(watch.descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return becameUnknown() }
        for step in conversation.received(buffer[..<count]) {
            switch step {
            case .send(let bytes): send(bytes)
            case .over: return becameUnknown()
            case .owned(let isNow):
                let before = isOwned
                isOwned = isNow
                if isNow, before == false { return appeared() }
            }
        }
    }
}
