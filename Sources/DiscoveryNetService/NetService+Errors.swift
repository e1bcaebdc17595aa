public import DNSSD
import Foundation

extension NetService {
    /// The key of the error code in an error dictionary.
    public static let errorCode = "NSNetServicesErrorCode"
    /// The key of the error domain in an error dictionary; its value is 10 (kCFStreamErrorDomainNetServices).
    public static let errorDomain = "NSNetServicesErrorDomain"

    /// The reasons for failure, as Foundation numbers them.
    public enum ErrorCode: Int, Sendable {
        /// Any other error; `NetService.failure` describes it.
        case unknownError = -72000
        /// The name is taken, and no other may be tried.
        case collisionError = -72001
        /// There is no such service, or it is gone.
        case notFoundError = -72002
        /// Another operation must end first.
        case activityInProgress = -72003
        /// The type, name, domain or port cannot be used.
        case badArgumentError = -72004
        /// The network was shut down.
        case cancelledError = -72005
        /// The service is not in the state for it.
        case invalidError = -72006
        /// The time limit has passed.
        case timeoutError = -72007
        /// No mDNS responder answers on this machine, or its policy forbids the operation.
        case missingRequiredConfigurationError = -72008
    }

    /// The dictionary that delegates receive.
    static func dictionary(_ code: ErrorCode) -> [String: NSNumber] {
        [errorCode: NSNumber(value: code.rawValue), errorDomain: NSNumber(value: 10)]
    }
}

extension NetService.ErrorCode {
    /// The code for an error of the library.
    public init(_ error: DiscoveryError) {
        switch error.code {
        case .nameTaken: self = .collisionError
        case .notFound: self = .notFoundError
        case .timedOut: self = .timeoutError
        case .closed: self = .cancelledError
        case .backendUnavailable, .notPermitted: self = .missingRequiredConfigurationError
        case .invalidServiceType, .invalidServiceName, .invalidDomain, .invalidHostName, .invalidTXTRecord,
            .invalidPort, .invalidAddress, .invalidInterface:
            self = .badArgumentError
        default: self = .unknownError
        }
    }
}
