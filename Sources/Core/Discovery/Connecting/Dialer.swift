public import DNSSD

/// Makes a connection to one endpoint: with plain sockets, with SwiftNIO, or in a test's simulation.
public protocol Dialer<Connection>: Sendable {
    /// A connection on which nothing has been sent or read: it is closed unused if another one is faster.
    associatedtype Connection: Sendable

    /// Connects. Must return soon after the task is cancelled.
    /// - Throws: `DialFailure`, or `CancellationError`; any other error counts as `.refused`.
    func dial(_ endpoint: Endpoint) async throws -> Connection

    /// Closes a connection that is not wanted.
    func close(_ connection: Connection) async
}

/// The reason a connection to an endpoint failed.
public struct DialFailure: Error, Hashable, Sendable {
    /// `.refused`, `.timeout` or `.cancelled`.
    public let outcome: EstablishmentReport.Outcome
    /// The reason for people, such as "connection refused"; safe for a terminal.
    public let reason: String

    /// Creates a failure.
    public init(_ outcome: EstablishmentReport.Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
