/// Whether a service works, according to its checks.
public enum Health: Hashable, Sendable {
    /// Nothing was looked at yet.
    case unknown
    /// It works.
    case passing
    /// It does not work, or not steadily; the reason is safe for a terminal.
    case failing(reason: String)
}

/// What one check found.
public enum CheckResult: Hashable, Sendable {
    /// It works.
    case passed
    /// It does not; the reason is safe for a terminal.
    case failed(reason: String)
}
