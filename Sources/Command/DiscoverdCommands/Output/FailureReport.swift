#if Commands
internal import CommandFrame
internal import DiscoveryJSON
internal import DiscoveryPOSIX
internal import DiscoverySystem
internal import Libc

/// Says why a command failed: to people on standard error and, with `--json=2`, to programs in the last line of what it prints.
struct FailureReport: Sendable {
    var notices = ProgramNotices()
    /// In which version JSON is printed; nil: for people.
    let version: JSONVersion?
    /// Standard output belongs to a connection.
    var isOnStandardError = false

    func tell(_ error: CommandError) {
        notices.failure(error)
        tellPrograms(error)
    }

    /// Without what is said to people.
    func tellPrograms(_ error: CommandError) {
        guard version == .two else { return }
        let status = error.status
        let line = JSONError(
            code: status.name, status: Int(status.rawValue), message: error.message, advice: error.advice
        ).line
        _ = Descriptor.write(line, to: isOnStandardError ? STDERR_FILENO : STDOUT_FILENO)
    }
}

extension ExitStatus {
    /// A stable name for programs (docs/contract/json.md).
    var name: String {
        switch self {
        case .notFound: "not-found"
        case .usage: "usage"
        case .badData: "bad-data"
        case .noInput: "no-input"
        case .noBackend: "unavailable"
        case .systemError: "system-error"
        case .cannotCreate: "name-taken"
        case .ioError: "io-error"
        case .unreachable: "unreachable"
        case .notPermitted: "not-permitted"
        case .badConfiguration: "bad-configuration"
        case .programNotExecutable: "not-executable"
        case .programNotFound: "not-installed"
        case .interrupted: "interrupted"
        default: "status-\(rawValue)"
        }
    }
}
#endif
