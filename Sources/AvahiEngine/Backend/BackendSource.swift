import DNSSD
import System

/// Whose avahi-daemon the next connection is made to: carries out an `AvahiBackend`. Touched by the loop's thread only.
final class BackendSource {
    /// What to do about a connection that is wanted.
    enum Step {
        /// Make it now.
        case connect
        /// A private backend is being started and will tell `.ready` or `.ended`; the reason is for people. Nil while the system's
        /// avahi-daemon is being asked: there is nothing to tell yet.
        case wait(String?)
        /// There is none to be had for now.
        case fail(DiscoveryError)
    }

    /// What happened without being asked for.
    enum Event {
        /// The private backend's bus can be connected to, perhaps again; or the system's avahi-daemon answers calls.
        case ready
        /// The private backend has ended.
        case ended(DiscoveryError)
        /// It has ended, and there will be no other.
        case over(DiscoveryError)
        /// The connection is to be made anew: `prepare()` decides once more.
        case again
        /// The connection that waits for avahi-daemon has waited long enough: `.fail` says why it goes on waiting.
        case instead(Step)
    }

    private enum Choice {
        case system
        case `private`
        /// The system's is being tried.
        case undecided
    }

    /// How long the system's avahi-daemon has to answer on a bus that is there.
    private static let systemLimit = Duration.seconds(2)
    /// How often a private backend that could not be had is tried again while the bus waits for the system's.
    private static let againAfter = Duration.seconds(10)
    /// How often to look for the bus that another process is starting.
    private static let sharedInterval = Duration.milliseconds(250)
    /// How long a private avahi-daemon has to appear before the connection is made anew: it may be to the wrong bus,
    /// when the private one died just before.
    private static let privateLimit = Duration.seconds(5)

    /// Never called from within a call to this object.
    var tell: (Event) -> Void = { _ in }

    private let isAutomatic: Bool
    private var choice: Choice
    private let address: BusAddress?
    /// Nil where it cannot be shared.
    private let shared: SharedBus?
    private var privateBackend: PrivateBackend?
    private var privateHasWorked = false
    /// Runs while the system's avahi-daemon is asked.
    private var probe: SystemProbe?
    private var askedAt = MonotonicTime.now
    /// Nil where no private backend is ever used.
    private var systemWatch: SystemAvahiWatch?
    /// Why there will be no backend any more.
    private var end: DiscoveryError?
    private let loop: EventLoop
    private let timer: LoopTimer
    /// Runs while another process starts the backend.
    private let sharedTimer: LoopTimer

    init(_ backend: AvahiBackend, loop: EventLoop) throws(DiscoveryError) {
        let options: PrivateBackendOptions?
        switch backend {
        case .system: (options, isAutomatic, choice) = (nil, false, .system)
        case .private(let given): (options, isAutomatic, choice) = (given, false, .private)
        case .automatic(let given): (options, isAutomatic, choice) = (given, true, .undecided)
        }
        self.loop = loop
        timer = LoopTimer(loop: loop)
        sharedTimer = LoopTimer(loop: loop)
        guard let options else {
            address = nil
            shared = nil
            return
        }
        let directory = RuntimeDirectory(path: try RuntimeDirectory.ofThisProcess.get())
        shared = SharedBus()
        let sockets = [directory.socket] + (shared.map { [$0.socket] } ?? [])
        let address = BusAddress(
            private: sockets.map { PrivateBackendConfiguration.address(ofSocket: $0) }.joined(separator: ";"),
            thenSystem: isAutomatic)
        self.address = address
        privateBackend = PrivateBackend(options, directory: directory, shared: shared, loop: loop) { [weak self] in
            self?.received($0)
        }
        let watch = SystemAvahiWatch(loop: loop, address: address.system)
        watch.appeared = { [weak self] in self?.systemAppeared() }
        systemWatch = watch
        sharedTimer.fire = { [weak self] in self?.tell(.again) }
    }

    /// Whether avahi-daemon has the limits of `PrivateBackendConfiguration`.
    var isPrivate: Bool { choice == .private }

    /// A connection is wanted.
    func prepare() -> Step {
        timer.deadline = nil
        sharedTimer.deadline = nil
        if let end { return .fail(end) }
        if choice != .system { systemWatch?.start() }
        // One that another process has started is there because the system has none.
        if choice == .undecided, shared?.answers ?? false { choice = .private }
        if choice == .undecided, privateBackend != nil { return ask() }
        guard choice == .private, let backend = privateBackend else { return .connect }
        let step = step(of: backend, "a private avahi-daemon is being started")
        guard case .fail = step, isAutomatic else { return step }
        // The system's may have been slow, and hold UDP port 5353: it is asked again.
        choice = .undecided
        return ask()
    }

    /// A connection was tried: libdbus knows its addresses now.
    func tried() { address?.restore() }

    /// No connection could be made.
    func unreachable(_ error: DiscoveryError) -> Step {
        guard choice == .undecided, let backend = privateBackend else { return .fail(error) }
        choice = .private
        let step = step(of: backend, "\(error.message); a private avahi-daemon is being started")
        guard case .fail(let reason) = step else { return step }
        choice = .undecided
        return .fail(DiscoveryError(.backendUnavailable, "\(error.message); \(reason.message)"))
    }

    /// There is a bus, and no avahi-daemon on it.
    func isWaitingForDaemon() {
        switch choice {
        case .system: break
        case .private:
            timer.fire = { [weak self] in self?.tell(.again) }
            timer.set(after: Self.privateLimit)
        case .undecided: limitSilence()
        }
    }

    /// A call on this thread may be in vain for 25 s: first one on another that can wait.
    private func ask() -> Step {
        askedAt = .now
        // One that hangs since the last time is still asking.
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

    /// Counts from when the system's avahi-daemon was asked first.
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

    /// avahi-daemon answers.
    func answered() {
        timer.deadline = nil
        if choice == .undecided {
            choice = .system
            systemWatch?.stop()
        }
        guard isPrivate else { return }
        privateHasWorked = true
        privateBackend?.worked()
    }

    /// The connection was closed.
    func disconnected() { timer.deadline = nil }

    /// Why nothing answers, in the words of who knows best.
    func explanation(_ reason: String) -> String {
        guard isPrivate, let backend = privateBackend else { return reason }
        return backend.problem ?? reason
    }

    /// Ends a private backend; blocks until it has ended, 1.5 s at most.
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
        guard !backend.isReady, !(shared?.answers ?? false) else { return .connect }
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

    /// Two responders on one machine quarrel over names, and unicast answers reach only one of them (decision 0007). Those
    /// who share the private one find its bus gone, or see the same.
    private func systemAppeared() {
        // While it is undecided the system's is being asked already.
        guard choice == .private else { return }
        shared?.withdraw()
        privateBackend?.stop()
        privateHasWorked = false
        guard !isAutomatic else {
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
            if isAutomatic, !privateHasWorked { choice = .undecided }
            tell(.ended(error))
        }
    }
}
