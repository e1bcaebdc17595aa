import CAvahi
import DNSSD

extension DiscoveryError {
    /// The only place that turns Avahi's error numbers (avahi-common/error.h) into errors of this library.
    static func avahi(_ code: Int32, during what: String) -> DiscoveryError {
        let text = unsafe avahi_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return DiscoveryError(self.code(ofAvahi: code), "\(what): \(text)\(limit(ofAvahi: code))")
    }

    /// Adds the setting of avahi-daemon.conf(5) that forbids the action.
    func forbidden(by setting: String) -> DiscoveryError {
        guard code == .notPermitted else { return self }
        return DiscoveryError(code, "\(message) (\(setting) in avahi-daemon.conf)")
    }

    /// The limit of avahi-daemon.conf(5) that was reached.
    private static func limit(ofAvahi code: Int32) -> String {
        let setting: String? =
            switch Int(code) {
            case AVAHI_ERR_TOO_MANY_CLIENTS: "clients-max"
            case AVAHI_ERR_TOO_MANY_OBJECTS: "objects-per-client-max"
            case AVAHI_ERR_TOO_MANY_ENTRIES: "entries-per-entry-group-max"
            default: nil
            }
        return setting.map { " (\($0) in avahi-daemon.conf)" } ?? ""
    }

    private static func code(ofAvahi code: Int32) -> Code {
        switch Int(code) {
        case AVAHI_ERR_NO_DAEMON, AVAHI_ERR_DISCONNECTED, AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_OS: .backendUnavailable
        case AVAHI_ERR_COLLISION: .nameTaken
        case AVAHI_ERR_TIMEOUT: .timedOut
        case AVAHI_ERR_NOT_FOUND: .notFound
        case AVAHI_ERR_INVALID_SERVICE_NAME: .invalidServiceName
        case AVAHI_ERR_INVALID_SERVICE_TYPE, AVAHI_ERR_INVALID_SERVICE_SUBTYPE: .invalidServiceType
        case AVAHI_ERR_INVALID_DOMAIN_NAME: .invalidDomain
        case AVAHI_ERR_INVALID_HOST_NAME: .invalidHostName
        case AVAHI_ERR_INVALID_PORT: .invalidPort
        case AVAHI_ERR_INVALID_INTERFACE: .invalidInterface
        case AVAHI_ERR_INVALID_RECORD: .invalidTXTRecord
        case AVAHI_ERR_TOO_MANY_CLIENTS, AVAHI_ERR_TOO_MANY_OBJECTS, AVAHI_ERR_TOO_MANY_ENTRIES: .limitExceeded
        case AVAHI_ERR_ACCESS_DENIED, AVAHI_ERR_NOT_PERMITTED: .notPermitted
        default: .backendFailed
        }
    }
}
