import Discovery

/// Reports the state of the connection to avahi-daemon, and asks it for nothing.
final class StateOperation: CoreOperation {
    private var told: EngineState?
    private let report: (EngineState) -> Void

    init(report: @escaping (EngineState) -> Void) { self.report = report }

    func connected(_ connection: AvahiConnection) { became(.up) }
    func publishing(_ isPossible: Bool) {}
    func disconnected(_ reason: String) { became(.down(reason)) }
    func end() {}

    private func became(_ state: EngineState) {
        guard state != told else { return }
        told = state
        report(state)
    }
}
