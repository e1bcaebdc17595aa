/// An event of a stream of services.
public enum ServiceEvent: Hashable, Sendable {
    /// A service that was not known before.
    case found(DiscoveredService)
    /// The interfaces, addresses, port, TXT or state of a known service changed.
    case changed(DiscoveredService)
    /// A service is gone; the value is its last known one.
    case lost(DiscoveredService)
    /// Everything present at the start has been reported; later events are news. Comes once.
    case settled
    /// The backend answers, went away or came back. Known services are kept while it is away.
    case backend(BackendState)
    /// Something was left out, so later events may be incomplete; the text says what and why.
    case degraded(String)
}

/// Whether the backend answers, and whether it did before.
public enum BackendState: Hashable, Sendable {
    /// The backend answers.
    case available
    /// The backend has never answered; the reason is for people.
    case unavailable(String)
    /// The backend answered before and went away; the reason is for people.
    case lost(String)
    /// The backend went away and is back.
    case recovered
}
