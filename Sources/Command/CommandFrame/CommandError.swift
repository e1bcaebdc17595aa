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
        (self.status, self.message, self.advice) = (status, message, advice)
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
        var error = CommandError(
            .noBackend, "\(absence) here: \(reason ?? "avahi-daemon did not answer in time")")
        error.isAboutBackend = true
        return error
    }

    /// The same where a command only publishes, or only finds.
    /// - Parameter work: `publishes` or `finds`.
    package func isAbout(_ work: String) -> CommandError {
        guard isAboutBackend, message.hasPrefix(Self.absence) else { return self }
        var error = CommandError(status, "nothing \(work)" + message.dropFirst(Self.absence.count), advice: advice)
        error.isAboutBackend = true
        return error
    }

    private static let absence = "nothing finds or publishes"

    /// The message.
    public var description: String { message }
}

/// The system's text for an `errno`.
public func systemMessage(_ code: Int32) -> String { SystemError.text(code) }

/// How a program ended (sysexits.h; docs/contract/exit-status.md).
public struct ExitStatus: Hashable, Sendable {
    /// The value that the shell sees.
    public let rawValue: Int32

    /// Creates a status, for example another program's.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Success.
    public static let done = ExitStatus(rawValue: 0)
    /// Not found, or not done in time.
    public static let notFound = ExitStatus(rawValue: 1)
    /// A bad type, name, port or option (`EX_USAGE`).
    public static let usage = ExitStatus(rawValue: 64)
    /// Data from the peer breaks the rules (`EX_DATAERR`).
    public static let badData = ExitStatus(rawValue: 65)
    /// An input file cannot be read (`EX_NOINPUT`).
    public static let noInput = ExitStatus(rawValue: 66)
    /// No backend answers (`EX_UNAVAILABLE`).
    public static let noBackend = ExitStatus(rawValue: 69)
    /// The system refused something that should work, such as a thread or a process (`EX_OSERR`).
    public static let systemError = ExitStatus(rawValue: 71)
    /// The name is taken, or a file cannot be created (`EX_CANTCREAT`).
    public static let cannotCreate = ExitStatus(rawValue: 73)
    /// Reading or writing failed: standard output, a full disk, a broken connection (`EX_IOERR`).
    public static let ioError = ExitStatus(rawValue: 74)
    /// The service was found, but none of its addresses could be connected to; or a DNS server takes no more (`EX_PROTOCOL`).
    public static let unreachable = ExitStatus(rawValue: 76)
    /// Not permitted (`EX_NOPERM`).
    public static let notPermitted = ExitStatus(rawValue: 77)
    /// The configuration is wrong (`EX_CONFIG`).
    public static let badConfiguration = ExitStatus(rawValue: 78)
    /// The program after `--` cannot be executed, as in a shell.
    public static let programNotExecutable = ExitStatus(rawValue: 126)
    /// The program after `--` was not found, as in a shell.
    public static let programNotFound = ExitStatus(rawValue: 127)
    /// A signal ended it before it was done, as a shell says of Ctrl-C: 128 + SIGINT.
    public static let interrupted = ExitStatus(rawValue: 130)
}

extension ExitStatus {
    /// The status for an error from the library.
    public init(_ code: DiscoveryError.Code) {
        switch code {
        case .invalidServiceType, .invalidServiceName, .invalidDomain, .invalidHostName, .invalidTXTRecord,
            .invalidPort, .invalidAddress, .invalidInterface:
            self = .usage
        case .nameTaken: self = .cannotCreate
        case .notPermitted, .limitExceeded: self = .notPermitted
        case .systemRefused: self = .systemError
        case .unreachable, .serverLimitReached, .addressesWithheld: self = .unreachable
        case .misconfigured: self = .badConfiguration
        case .notFound, .timedOut: self = .notFound
        default: self = .noBackend
        }
    }
}
