public import DNSSD
import Foundation

extension NetService {
    /// The key of the code in an error dictionary.
    public static let errorCode = "NSNetServicesErrorCode"
    /// The key of the domain in an error dictionary; its value is 10 (kCFStreamErrorDomainNetServices).
    public static let errorDomain = "NSNetServicesErrorDomain"

    /// Why something was not done, as Foundation numbers it.
    public enum ErrorCode: Int, Sendable {
        /// Something else: `NetService.failure` has a sentence.
        case unknownError = -72000
        /// The name is taken, and no other was to be tried.
        case collisionError = -72001
        /// There is no such service, or it is gone.
        case notFoundError = -72002
        /// Something else is going on that must end before.
        case activityInProgress = -72003
        /// The type, name, domain or port cannot be used.
        case badArgumentError = -72004
        /// The network was shut down.
        case cancelledError = -72005
        /// The service is not in the state for it.
        case invalidError = -72006
        /// Not within the time that was allowed.
        case timeoutError = -72007
        /// Nothing answers for mDNS on this machine, or its policy does not permit it.
        case missingRequiredConfigurationError = -72008
    }

    /// The dictionary that delegates are given.
    static func dictionary(_ code: ErrorCode) -> [String: NSNumber] {
        [errorCode: NSNumber(value: code.rawValue), errorDomain: NSNumber(value: 10)]
    }
}

extension NetService.ErrorCode {
    /// The number for an error of the library.
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
