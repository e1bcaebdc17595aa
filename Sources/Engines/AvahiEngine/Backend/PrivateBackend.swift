import CAvahi
import CSupervisor
import DNSSD
import DiscoverySystem
import Libc

/// Owns the supervisor of a private dbus-daemon and avahi-daemon. Used only on the loop's thread.
final class PrivateBackend {
    enum Event {
        /// The bus accepts connections, perhaps again.
        case ready
        /// The supervisor has ended; it can be started again.
        case ended(DiscoveryError)
    }

    /// When asked to end, the supervisor sends goodbyes for at most 1 s.
    private static let patience: Int32 = 1_500

    let directory: BackendDirectory
    private let options: PrivateBackendOptions
    private let loop: EventLoop
    private let tell: (Event) -> Void
    private var supervisor: (process: pid_t, status: Int32, life: Int32)?
    private var watch: LoopWatch?
    private var report = SupervisorReport()
    /// Lets other processes find the bus.
    private let shared: SharedBus?

    /// Starts nothing yet. `tell` is never called from within a call to this object.
    init(
        _ options: PrivateBackendOptions, directory: BackendDirectory, shared: SharedBus?, loop: EventLoop,
        tell: @escaping (Event) -> Void
    ) {
        self.shared = shared
        self.options = options
        self.directory = directory
        self.loop = loop
        self.tell = tell
    }

    deinit { stop() }

    /// Whether the bus accepts connections.
    var isReady: Bool { report.isReady }
    /// Why it does not work, for people.
    var problem: String? { report.problem }

    /// Call when avahi-daemon answers.
    func worked() { report.worked() }

    /// Starts the supervisor unless it is running.
    /// - Throws: `.backendUnavailable` if a program is not installed, another responder holds UDP 5353, or there is no room for files.
    func start() throws(DiscoveryError) {
        guard supervisor == nil else { return }
        let programs = try PrivateBackendPrograms()
        let holders = PortHolder.holders(of: PortHolder.multicastDNS)
        guard holders.isEmpty else {
            throw DiscoveryError(
                .backendUnavailable,
                "a private avahi-daemon is not started, because UDP port 5353 is used by "
                    + holders.map(\.description).joined(separator: ", "))
        }
        try directory.make()
        do throws(DiscoveryError) {
            let user = DaemonUser.chosen(for: directory.path)
            let configuration = try configure(user)
            if user != .own { try directory.give(to: user) }
            try launch(programs, configuration)
        } catch {
            directory.remove()
            throw error
        }
    }

    /// Ends the daemons, waits for them (at most 1.5 s), and removes the directory.
    func stop() {
        guard let (process, status, life) = supervisor else { return }
        forget()
        close(life)
        var end = pollfd(fd: status, events: Int16(POLLIN), revents: 0)
        let limit = MonotonicTime.now + .milliseconds(Self.patience)
        while case let left = limit.microseconds - MonotonicTime.now.microseconds, left > 0 {
            _ = unsafe poll(&end, 1, Int32(clamping: left / 1_000 + 1))
            if !receive(from: status, telling: false) { break }
        }
        close(status)
        // A late supervisor ends by itself. It is not waited for, and stays a zombie of this process until this ends.
        waitpid(process, nil, WNOHANG)
        directory.remove()
    }

    private func configure(_ user: DaemonUser) throws(DiscoveryError) -> PrivateBackendConfiguration {
        let configuration = PrivateBackendConfiguration(
            socket: directory.socket,
            hostName: Environment.hostName ?? "",
            interfaces: options.interfaces, present: SystemInterfaces.names(), user: user.user,
            group: user.group, owner: geteuid())
        try directory.write(configuration.dbus, to: "dbus.conf")
        try directory.write(configuration.avahi, to: "avahi-daemon.conf")
        try directory.write(configuration.passwd, to: "passwd")
        try directory.write(configuration.groups, to: "group")
        return configuration
    }

    private func launch(
        _ programs: PrivateBackendPrograms, _ configuration: PrivateBackendConfiguration
    ) throws(DiscoveryError) {
        var status: Int32 = -1
        var life: Int32 = -1
        let process = unsafe programs.withConfig(
            for: directory.path, configuration, shared: shared?.place, passesOutput: options.passesOutput
        ) {
            unsafe csupervisor_start($0, &status, &life)
        }
        guard process > 0 else {
            let reason = SystemError(-process, "a private avahi-daemon cannot be started")
            throw DiscoveryError(.systemRefused, reason.description)
        }
        report = SupervisorReport()
        supervisor = (process, status, life)
        watch = LoopWatch(loop: loop, descriptor: status) { [weak self] _ in
            guard let self, !self.receive(from: status, telling: true) else { return }
            self.ended()
        }
    }

    /// - Returns: false when the supervisor's reports have ended.
    private func receive(from status: Int32, telling: Bool) -> Bool {
        var event = csupervisor_event()
        while true {
            let count = unsafe read(status, &event, MemoryLayout<csupervisor_event>.size)
            guard count == MemoryLayout<csupervisor_event>.size else {
                return count < 0 && (errno == EAGAIN || errno == EINTR)
            }
            if report.received(event) == .ready, telling { tell(.ready) }
        }
    }

    private func ended() {
        guard let (process, status, life) = supervisor else { return }
        forget()
        close(life)
        close(status)
        // Returns at once: the descriptor is closed when the process ends.
        waitpid(process, nil, 0)
        directory.remove()
        let reason = report.problem ?? "the process that supervises the private avahi-daemon was ended"
        report = SupervisorReport()
        tell(.ended(DiscoveryError(.backendUnavailable, reason)))
    }

    private func forget() {
        watch?.free()
        watch = nil
        supervisor = nil
    }
}
