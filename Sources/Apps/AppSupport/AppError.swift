public import DNSSD
import Glibc

/// Why a program failed: a status for scripts, and for people a sentence and what to do about it.
public struct AppError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How the program ends.
    public let status: AppStatus
    /// What is wrong.
    public let message: String
    /// What to do, one line each.
    public let advice: [String]
    /// Whether the message was said already: the program only ends with the status.
    public private(set) var isTold = false

    /// Creates an error.
    public init(_ status: AppStatus, _ message: String, advice: [String] = []) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// An end that was told in the program's own words.
    public init(told message: String, _ status: AppStatus) {
        self.init(status, message)
        isTold = true
    }

    /// An error of the library.
    public init(_ error: DiscoveryError) {
        let isBackend = error.code == .backendUnavailable
        self.init(
            AppStatus(error.code),
            isBackend ? "no mDNS backend: \(error.message)" : error.message,
            advice: isBackend ? ["Install it: apt install avahi-daemon. 'discoverd doctor' says what is missing."] : []
        )
    }

    /// What a system call failed with.
    public init(_ status: AppStatus, _ what: String, errno code: Int32) {
        self.init(status, "\(what): \(systemMessage(code))")
    }

    /// The message.
    public var description: String { message }
}

/// What the system calls an `errno`.
public func systemMessage(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text)
}
