import Discovery

/// Reports the state of the connection to avahi-daemon, and asks it for nothing.
final class StateOperation: CoreOperation {
    private var told: EngineState?
    private weak var core: EngineCore?
    private let report: (EngineState) -> Void

    init(core: EngineCore, report: @escaping (EngineState) -> Void) {
        self.core = core
        self.report = report
    }

    func connected(_ connection: AvahiConnection) { became(.up) }
    func publishing(_ isPossible: Bool) {}
    func disconnected(_ reason: String) { became(core?.isIdle == true ? .idle(reason) : .down(reason)) }
    func end() {}

    private func became(_ state: EngineState) {
        guard state != told else { return }
        told = state
        report(state)
    }
}
