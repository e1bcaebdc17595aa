public import DNSSD

/// How a program ended (sysexits.h; docs/contract.md, section 2).
public struct AppStatus: Hashable, Sendable {
    /// What the shell sees.
    public let rawValue: Int32

    init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// Done.
    public static let done = AppStatus(0)
    /// Not found, or not done (in time).
    public static let notDone = AppStatus(1)
    /// A bad type, name, port or option (`EX_USAGE`).
    public static let usage = AppStatus(64)
    /// What came from the other side breaks the rules (`EX_DATAERR`).
    public static let badData = AppStatus(65)
    /// A file that is to be read cannot be (`EX_NOINPUT`).
    public static let noInput = AppStatus(66)
    /// No backend could be reached (`EX_UNAVAILABLE`).
    public static let noBackend = AppStatus(69)
    /// The system refused something that should work (`EX_OSERR`).
    public static let systemError = AppStatus(71)
    /// The name is taken, or a file cannot be created (`EX_CANTCREAT`).
    public static let cannotCreate = AppStatus(73)
    /// Reading or writing failed: a full disk, a connection that broke (`EX_IOERR`).
    public static let ioError = AppStatus(74)
    /// The service was found, and no address could be connected to (`EX_PROTOCOL`).
    public static let unreachable = AppStatus(76)
    /// Not permitted (`EX_NOPERM`).
    public static let notPermitted = AppStatus(77)
}

extension AppStatus {
    /// The status for an error of the library.
    public init(_ code: DiscoveryError.Code) {
        switch code {
        case .invalidServiceType, .invalidServiceName, .invalidDomain, .invalidHostName, .invalidTXTRecord,
            .invalidPort, .invalidAddress, .invalidInterface:
            self = .usage
        case .nameTaken: self = .cannotCreate
        case .notPermitted, .limitExceeded: self = .notPermitted
        case .systemRefused: self = .systemError
        case .unreachable: self = .unreachable
        case .notFound, .timedOut: self = .notDone
        default: self = .noBackend
        }
    }
}
