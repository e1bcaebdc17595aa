public import DNSSD
import DiscoverySystem

/// Why a program failed: a status for scripts; a sentence and advice for people.
public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program's exit status.
    public let status: ExitStatus
    /// What is wrong.
    public let message: String
    /// What the user can do, one line each.
    public var advice: [String]
    /// The backend is missing: the advice depends on which was asked for, and on this machine.
    public private(set) var isAboutBackend = false
    /// The program has already reported the error; only the status is left to return.
    public private(set) var isTold = false

    /// Creates an error.
    public init(_ status: ExitStatus, _ message: String, advice: [String] = []) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// A failure that the program reports in its own words.
    public init(told message: String, _ status: ExitStatus) {
        self.init(status, message)
        isTold = true
    }

    /// An error from the library.
    public init(_ error: DiscoveryError) {
        self =
            error.code == .backendUnavailable
            ? .noBackend(error.message) : CommandError(ExitStatus(error.code), error.message)
    }

    /// A failed system call.
    public init(_ status: ExitStatus, _ what: String, errno code: Int32) {
        self.init(status, "\(what): \(systemMessage(code))")
    }

    /// No mDNS responder answers on this machine.
    public static func noBackend(_ reason: String?) -> CommandError {
        var error = CommandError(.noBackend, "no mDNS backend: \(reason ?? "avahi-daemon did not answer in time")")
        error.isAboutBackend = true
        return error
    }

    /// The message.
    public var description: String { message }
}

/// The system's text for an `errno`.
public func systemMessage(_ code: Int32) -> String { SystemError.text(code) }
