public import DNSSD

/// Lines of JSON, version 1 of docs/contract.md: one object a line, each with `"v":1` and `"event"`.
extension JSONWriter {
    /// Writes a line with an event; `members` writes what follows `event`.
    public mutating func line(_ event: String, _ members: (inout JSONWriter) -> Void = { _ in }) {
        object { object in
            object.member("v", 1)
            object.member("event", event)
            members(&object)
        }
        endLine()
    }

    /// Writes what a browser tells as one line, or nothing: the coming of the backend is no event for a reader.
    /// - Parameters:
    ///   - event: what the browser tells.
    ///   - detail: how much of a service is written.
    ///   - keyState: what is known of the key that a service had last; nil for one that was not connected to.
    public mutating func line(
        _ event: ServiceEvent, detail: ServiceDetail, keyState: (ServiceInstance) -> String? = { _ in nil }
    ) {
        switch event {
        case .found(let service): serviceLine("added", service, detail, keyState(service.instance))
        case .changed(let service): serviceLine("updated", service, detail, keyState(service.instance))
        case .lost(let service): serviceLine("removed", service, detail, keyState(service.instance))
        case .settled: line("settled")
        case .backend(let state): line(state)
        case .degraded(let reason): degradedLine(reason)
        }
    }

    /// Writes that the backend went away or came back; nothing for its first coming.
    public mutating func line(_ state: BackendState) {
        switch state {
        case .available, .unavailable: break
        case .lost: line("backend") { $0.member("state", "lost") }
        case .recovered: line("backend") { $0.member("state", "recovered") }
        }
    }

    /// Writes that something was left out.
    public mutating func degradedLine(_ reason: String) {
        line("degraded") { $0.member("reason", reason) }
    }

    private mutating func serviceLine(
        _ event: String, _ service: DiscoveredService, _ detail: ServiceDetail, _ keyState: String?
    ) {
        line(event) { object in
            object.key("service")
            object.service(service, detail: detail, keyState: keyState)
        }
    }
}
