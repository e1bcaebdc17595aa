#if Commands
internal import CommandFrame
internal import DNSSD
internal import Discovery
internal import DiscoveryJSON
internal import DiscoverySystem

/// Tracks whether the backend has answered. Until it answers, a timer may end the command; afterwards, coming and going is only reported.
struct BackendGate {
    /// The backend has answered at least once.
    private(set) var isOpen = false
    /// Why the backend is not answering now, if known.
    private(set) var reason: String?
    /// Why the server of a domain has not answered, by the number of its stream.
    private var silentServers: [Int: String] = [:]
    /// Only DNS servers are asked.
    private let isUnicast: Bool
    private let stop: Stop
    private let patience: Duration
    private let silence: Task<Void, Never>
    private var absence: Task<Void, Never>?

    init(_ session: Session) {
        // A DNS server answers for itself.
        let daemon = session.isUnicast ? nil : session.daemon
        self.init(session.stop, session.invocation.patience, isUnicast: session.isUnicast) {
            await daemon?.finds() == true
        }
    }

    /// Starts the timer that ends the command if the backend stays silent.
    /// - Parameter finds: whether a daemon that is busy, or has nothing to say, finds all the same.
    init(
        _ stop: Stop, _ patience: Invocation.Patience, isUnicast: Bool = false,
        finds: @escaping @Sendable () async -> Bool
    ) {
        (self.stop, self.isUnicast) = (stop, isUnicast)
        self.patience = patience.absence
        silence = Task {
            while (try? await Task.sleep(for: patience.silence)) != nil {
                if await finds() { continue }
                if !Task.isCancelled { stop.request(.noBackend) }
                return
            }
        }
    }

    /// Call when anything is heard from the backend.
    mutating func answered() {
        guard !isOpen else { return }
        isOpen = true
        silence.cancel()
        absence?.cancel()
    }

    /// Records the backend's state.
    mutating func note(_ state: BackendState) {
        switch state {
        case .available, .recovered:
            reason = nil
            answered()
        case .unavailable(let reason):
            self.reason = reason
            if absence == nil, !isOpen { absence = stop.request(.noBackend, after: patience) }
        case .lost: break
        }
    }

    /// Records the state of what answers for one of several domains.
    /// - Parameter stream: the domain's number.
    mutating func note(_ state: BackendState, of domain: Domain, stream: Int) {
        note(state)
        guard domain != .local else { return }
        switch state {
        case .available, .recovered, .lost: silentServers[stream] = nil
        case .unavailable(let reason): silentServers[stream] = reason
        }
    }

    /// Why a domain's server has said nothing, so that nothing of it could be found; nil where all have answered.
    var silentServer: String? { silentServers.min { $0.key < $1.key }?.value }

    /// Nothing answers that could find or publish.
    var failure: CommandError {
        isUnicast ? Self.silence(reason ?? "none has answered in time") : .noBackend(reason)
    }

    static func silence(_ reason: String) -> CommandError {
        CommandError(.noBackend, "no DNS server: \(reason)")
    }
}

extension Session {
    /// Reports the backend's state to the user.
    /// - Parameter isNew: it is no other question's answer from the same.
    func show(_ state: BackendState, isNew: Bool = true) throws {
        switch state {
        case .available: if isNew { notices.detail("services can be found") }
        case .unavailable: notices.detail(state.trouble ?? "")
        case .lost, .recovered:
            guard !json else { return try output.json { $0.line(state) } }
            notices.notice(state.trouble ?? "services are found again")
        }
    }
}

extension BackendState {
    /// What people are told while it does not answer; nil where it does.
    var trouble: String? {
        switch self {
        case .available, .recovered: nil
        case .unavailable(let reason): "nothing finds yet: \(reason)"
        case .lost(let reason): "nothing finds now: \(reason); what is known is kept"
        }
    }
}

/// Advice for a user whose command found no backend: what this machine lacks.
enum BackendAdvice {
    private static let doctor = "'discoverd doctor' says what is missing."

    /// Advice about the system's avahi-daemon. Also right when the daemon has no backend: nothing this command could start would help it.
    static func ofSystem() -> [String] { lines(for: .always) }

    static func lines(for use: AvahiUse) -> [String] {
        lines(for: use, responders: SystemResponder.all)
    }

    /// - Parameter responders: what answers multicast questions for this machine.
    static func lines(for use: AvahiUse, responders: [SystemResponder]) -> [String] {
        if use != .never, let hung = responders.first(where: \.isAvahi) {
            return [
                "\(hung) runs and cannot be asked. Restart it: systemctl restart avahi-daemon; or leave it: --avahi never.",
                doctor,
            ]
        }
        if use == .never { return [doctor] }
        if use == .auto, let other = responders.first {
            return ["Stop \(other), or publish beside it: --avahi never.", doctor]
        }
        return ["Install it (apt install avahi-daemon) and start it (systemctl start avahi-daemon).", doctor]
    }
}
#endif
