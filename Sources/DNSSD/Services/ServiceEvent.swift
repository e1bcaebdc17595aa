/// An event of a browser.
public enum ServiceEvent: Hashable, Sendable {
    /// A service that was not known before.
    case found(DiscoveredService)
    /// A known service has other interfaces, addresses, port, TXT or state.
    case changed(DiscoveredService)
    /// A service is gone; the value is what was last known.
    case lost(DiscoveredService)
    /// Everything known at the start has been reported; what follows is news. Comes once.
    case settled
    /// The backend answers, went away or came back; what is known is kept meanwhile.
    case backend(BackendState)
    /// Something was left out, and why: later events may not show everything.
    case degraded(String)
}

/// Whether the backend can be reached.
public enum BackendState: Hashable, Sendable {
    /// It answers.
    case available
    /// It never answered yet; the reason is for people.
    case unavailable(String)
    /// It answered before and went away.
    case lost(String)
    /// It went away and is back.
    case recovered
}
