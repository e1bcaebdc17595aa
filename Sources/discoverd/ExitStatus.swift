internal import DNSSD

/// How a command ended (sysexits.h; docs/contract.md, section 2).
struct ExitStatus: Hashable, Sendable {
    let rawValue: Int32

    /// Done: found, published and withdrawn.
    static let done = ExitStatus(rawValue: 0)
    /// Not found, or not done in time.
    static let notFound = ExitStatus(rawValue: 1)
    /// A bad type, name, port or option (`EX_USAGE`).
    static let usage = ExitStatus(rawValue: 64)
    /// No backend could be reached (`EX_UNAVAILABLE`).
    static let noBackend = ExitStatus(rawValue: 69)
    /// The system refused something that should work: no thread, no process (`EX_OSERR`).
    static let systemError = ExitStatus(rawValue: 71)
    /// The name is taken (`EX_CANTCREAT`).
    static let nameTaken = ExitStatus(rawValue: 73)
    /// Writing the output failed (`EX_IOERR`).
    static let outputFailed = ExitStatus(rawValue: 74)
    /// The service was found, and no address could be connected to (`EX_PROTOCOL`).
    static let unreachable = ExitStatus(rawValue: 76)
    /// Not permitted (`EX_NOPERM`).
    static let notPermitted = ExitStatus(rawValue: 77)
    /// The configuration is wrong (`EX_CONFIG`).
    static let badConfiguration = ExitStatus(rawValue: 78)
    /// The program after `--` cannot be executed, as in a shell.
    static let programNotExecutable = ExitStatus(rawValue: 126)
    /// The program after `--` was not found, as in a shell.
    static let programNotFound = ExitStatus(rawValue: 127)
}

extension ExitStatus {
    /// The status for an error of the library.
    init(_ code: DiscoveryError.Code) {
        switch code {
        case .invalidServiceType, .invalidServiceName, .invalidDomain, .invalidHostName, .invalidTXTRecord,
            .invalidPort,
            .invalidAddress, .invalidInterface:
            self = .usage
        case .nameTaken: self = .nameTaken
        case .notPermitted, .limitExceeded: self = .notPermitted
        case .systemRefused: self = .systemError
        case .unreachable: self = .unreachable
        case .notFound, .timedOut: self = .notFound
        default: self = .noBackend
        }
    }
}
