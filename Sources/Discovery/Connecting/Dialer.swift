public import DNSSD

/// Makes a connection to one endpoint. Sockets, SwiftNIO, a test's simulation.
public protocol Dialer<Connection>: Sendable {
    /// What is made. It must not have sent or read anything: it may be closed because another was faster.
    associatedtype Connection: Sendable

    /// Connects, and returns soon after the task is cancelled.
    /// - Throws: `DialFailure`; anything else counts as refused.
    func dial(_ endpoint: Endpoint) async throws -> Connection

    /// Closes a connection that is not wanted.
    func close(_ connection: Connection) async
}

/// Why an endpoint could not be connected to.
public struct DialFailure: Error, Hashable, Sendable {
    /// `.refused`, `.timeout` or `.cancelled`.
    public let outcome: EstablishmentReport.Outcome
    /// For people, safe for a terminal, as "connection refused".
    public let reason: String

    /// Creates a failure.
    public init(_ outcome: EstablishmentReport.Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
