import DNSSD
import DiscoverySystem

/// Carries out an `AvahiBackend`: decides which avahi-daemon the next connection goes to. Used only on the loop's thread.
final class BackendSource {
    /// What to do when a connection is wanted.
    enum Step {
        /// Connect now.
        case connect
        /// A private backend is starting and will report `.ready` or `.ended`; the reason is for people. The reason is nil while the
        /// system's avahi-daemon is being asked.
        case wait(String?)
        /// No backend is available for now.
        case fail(DiscoveryError)
    }

    /// Events that nothing asked for.
    enum Event {
        /// The private backend's bus accepts connections, perhaps again; or the system's avahi-daemon answers calls.
        case ready
        /// The private backend has ended.
        case ended(DiscoveryError)
        /// The private backend has ended for good.
        case over(DiscoveryError)
        /// Connect again: `prepare()` will decide once more.
        case again
        /// The connection has waited long enough for avahi-daemon. Take this step instead; `.fail` has the reason to keep waiting.
        case instead(Step)
    }

    private enum Choice {
        case system
        case `private`
        /// The system's is being tried.
        case undecided
    }

    /// How long the system's avahi-daemon may take to answer if its bus exists.
    private static let systemLimit = Duration.seconds(2)
    /// The pause before retrying a private backend that could not be had, while waiting for the system's.
    private static let againAfter = Duration.seconds(10)
    /// How often to look for a bus that another process is starting.
    private static let sharedInterval = Duration.milliseconds(250)
    /// How long a private avahi-daemon may take to appear before connecting again: if the previous private one has just died, the
    /// connection may be to the wrong bus.
    private static let privateLimit = Duration.seconds(5)

    /// Never called from within a call to this object.
    var tell: (Event) -> Void = { _ in }
    /// Whether a private backend is worth starting now.
    var isPrivateWanted: () -> Bool = { true }
    /// A private backend would have been started, had it been wanted.
    private(set) var isHeldBack = false

    private let backend: AvahiBackend
    private var choice: Choice
    private let address: BusAddress?
    /// Why there can be no private backend, though one may be used.
    private let obstacle: DiscoveryError?
    /// Nil where it cannot be shared.
    private let shared: SharedBus?
    private var privateBackend: PrivateBackend?
    private var privateHasWorked = false
    /// Runs while the system's avahi-daemon is being asked.
    private var probe: SystemProbe?
    private var askedAt = MonotonicTime.now
    /// Nil if no private backend is ever used.
    private var systemWatch: SystemAvahiWatch?
    /// Why there will never be a backend again.
    private var end: DiscoveryError?
    private let loop: EventLoop
    private let timer: LoopTimer
    /// Runs while another process is starting the backend.
    private let sharedTimer: LoopTimer

    init(_ backend: AvahiBackend, loop: EventLoop) {
        let options: PrivateBackendOptions?
        switch backend {
        case .system: (options, choice) = (nil, .system)
        case .private(let given): (options, choice) = (given, .private)
        case .automatic(let given): (options, choice) = (given, .undecided)
        }
        (self.backend, self.loop) = (backend, loop)
        timer = LoopTimer(loop: loop)
        sharedTimer = LoopTimer(loop: loop)
        guard let options else {
            (address, shared, obstacle) = (nil, nil, nil)
            return
        }
        let path: String
        do {
            path = try BackendDirectory.ofThisProcess.get()
        } catch {
            (address, shared, obstacle) = (nil, nil, error)
            if !backend.isAutomatic { end = error }
            choice = .system
            return
        }
        obstacle = nil
        let directory = BackendDirectory(path: path)
        shared = SharedBus()
        let sockets = [directory.socket] + (shared.map { [$0.socket] } ?? [])
        let address = BusAddress(
            private: sockets.map { PrivateBackendConfiguration.address(ofSocket: $0) }.joined(separator: ";"),
            thenSystem: backend.isAutomatic)
        self.address = address
        privateBackend = PrivateBackend(options, directory: directory, shared: shared, loop: loop) { [weak self] in
            self?.received($0)
        }
        let watch = SystemAvahiWatch(loop: loop, address: address.system)
        watch.appeared = { [weak self] in self?.systemAppeared() }
        systemWatch = watch
        sharedTimer.fire = { [weak self] in self?.tell(.again) }
    }

    private var isPrivate: Bool { choice == .private }

    /// Decides how to connect. Call it when a connection is wanted.
    func prepare() -> Step {
        timer.deadline = nil
        sharedTimer.deadline = nil
        if let end { return .fail(end) }
        if choice != .system { systemWatch?.start() }
        // If another process has started a private backend, the system has none.
        if choice == .undecided, shared?.answers ?? false { choice = .private }
        if choice == .undecided, privateBackend != nil { return ask() }
        guard choice == .private, let backend = privateBackend else { return .connect }
        let step = step(of: backend, "a private avahi-daemon is being started")
        guard case .fail = step, self.backend.isAutomatic else { return step }
        // The system's avahi-daemon may just have been slow and hold UDP port 5353, so it is asked again.
        choice = .undecided
        return ask()
    }

    /// Call after a connection attempt: libdbus has read its addresses by then.
    func tried() { address?.restore() }

    /// Call when no connection could be made.
    func unreachable(_ error: DiscoveryError) -> Step {
        guard choice == .undecided, let backend = privateBackend else {
            guard let obstacle else { return .fail(error) }
            return .fail(DiscoveryError(.backendUnavailable, "\(error.message); \(obstacle.message)"))
        }
        choice = .private
        let step = step(of: backend, "\(error.message); a private avahi-daemon is being started")
        guard case .fail(let reason) = step else { return step }
        choice = .undecided
        return .fail(DiscoveryError(.backendUnavailable, "\(error.message); \(reason.message)"))
    }

    /// Call when the bus answers but has no avahi-daemon.
    func isWaitingForDaemon() {
        switch choice {
        case .system: break
        case .private:
            timer.fire = { [weak self] in self?.tell(.again) }
            timer.set(after: Self.privateLimit)
        case .undecided: limitSilence()
        }
    }

    /// Asks the system's avahi-daemon on a thread that may wait: here a futile call would block for 25 s.
    private func ask() -> Step {
        askedAt = .now
        // A previous probe that hangs is still asking.
        if probe == nil {
            probe = SystemProbe(loop: loop) { [weak self] in
                guard let self else { return }
                self.probe = nil
                guard self.choice == .undecided else { return }
                self.timer.deadline = nil
                self.tell(.ready)
            }
        }
        guard probe != nil else { return .connect }
        limitSilence()
        return .wait(nil)
    }

    /// The limit counts from when the system's avahi-daemon was first asked.
    private func limitSilence() {
        timer.fire = { [weak self] in
            guard let self else { return }
            let silence = DiscoveryError(.backendUnavailable, "the system's avahi-daemon does not answer")
            let step = self.unreachable(silence)
            if case .fail = step { self.timer.set(after: Self.againAfter) }
            self.tell(.instead(step))
        }
        timer.deadline = askedAt + Self.systemLimit
    }

    /// Call when avahi-daemon answers.
    func answered() {
        timer.deadline = nil
        isHeldBack = false
        if choice == .undecided {
            choice = .system
            systemWatch?.stop()
        }
        guard isPrivate else { return }
        privateHasWorked = true
        privateBackend?.worked()
    }

    /// Call when the connection is closed.
    func disconnected() { timer.deadline = nil }

    /// Why nothing answers; the private backend's own explanation is preferred.
    func explanation(_ reason: String) -> String {
        guard isPrivate, let backend = privateBackend else { return reason }
        return backend.problem ?? reason
    }

    /// Ends a private backend. Blocks until it has ended, at most 1.5 s.
    func stop() {
        timer.free()
        sharedTimer.free()
        systemWatch?.free()
        systemWatch = nil
        probe?.free()
        probe = nil
        shared?.withdraw()
        privateBackend?.stop()
        privateBackend = nil
        address?.restore()
    }

    private func step(of backend: PrivateBackend, _ reason: String) -> Step {
        isHeldBack = false
        guard !backend.isReady, !(shared?.answers ?? false) else { return .connect }
        guard isPrivateWanted() else {
            isHeldBack = true
            systemWatch?.stop()
            return .fail(
                DiscoveryError(.backendUnavailable, "a private avahi-daemon starts when something is published"))
        }
        guard shared?.claim() ?? true else {
            sharedTimer.set(after: Self.sharedInterval)
            return .wait("another process is starting a private avahi-daemon")
        }
        do throws(DiscoveryError) {
            try backend.start()
            return .wait(backend.problem ?? reason)
        } catch {
            shared?.withdraw()
            return .fail(error)
        }
    }

    /// Gives up the private backend: two responders on one machine quarrel over names, and unicast answers reach only one (decision 0007).
    /// Processes that share the private one notice that its bus is gone, or see the system's as well.
    private func systemAppeared() {
        // While undecided, the system's is being asked already.
        guard choice == .private else { return }
        shared?.withdraw()
        privateBackend?.stop()
        privateHasWorked = false
        guard !backend.isAutomatic else {
            choice = .undecided
            return tell(
                .ended(
                    DiscoveryError(
                        .backendUnavailable, "the system's avahi-daemon has appeared, and takes the private one's place"
                    )))
        }
        let error = DiscoveryError(
            .backendUnavailable,
            "the system's avahi-daemon has appeared, and a private one beside it would quarrel with it over UDP port 5353"
        )
        end = error
        systemWatch?.stop()
        tell(.over(error))
    }

    private func received(_ event: PrivateBackend.Event) {
        guard choice == .private else { return }
        switch event {
        case .ready:
            if let socket = privateBackend?.directory.socket { shared?.offer(socket) }
            tell(.ready)
        case .ended(let error):
            shared?.withdraw()
            if backend.isAutomatic, !privateHasWorked { choice = .undecided }
            tell(.ended(error))
        }
    }
}
