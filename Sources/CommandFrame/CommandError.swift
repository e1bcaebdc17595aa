public import DNSSD
import System

/// Why a program failed: a status for scripts, and for people a sentence and what to do about it.
public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How the program ends.
    public let status: ExitStatus
    /// What is wrong.
    public let message: String
    /// What to do, one line each.
    public var advice: [String]
    /// There is no backend: what to do depends on which was asked for, and on this machine.
    public private(set) var isAboutBackend = false
    /// The program said so in its own words: it only ends with the status.
    public private(set) var isTold = false

    /// Creates an error.
    public init(_ status: ExitStatus, _ message: String, advice: [String] = []) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// An end that was told in the program's own words.
    public init(told message: String, _ status: ExitStatus) {
        self.init(status, message)
        isTold = true
    }

    /// An error of the library.
    public init(_ error: DiscoveryError) {
        self =
            error.code == .backendUnavailable
            ? .noBackend(error.message) : CommandError(ExitStatus(error.code), error.message)
    }

    /// What a system call failed with.
    public init(_ status: ExitStatus, _ what: String, errno code: Int32) {
        self.init(status, "\(what): \(systemMessage(code))")
    }

    /// Nothing on this machine answers for mDNS.
    public static func noBackend(_ reason: String?) -> CommandError {
        var error = CommandError(.noBackend, "no mDNS backend: \(reason ?? "avahi-daemon did not answer in time")")
        error.isAboutBackend = true
        return error
    }

    /// The message.
    public var description: String { message }
}

/// What the system calls an `errno`.
public func systemMessage(_ code: Int32) -> String { SystemError.text(code) }
