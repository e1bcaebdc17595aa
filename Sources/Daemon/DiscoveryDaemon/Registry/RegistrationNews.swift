internal import DNSSD
internal import Discovery
package import DiscoveryControl

/// The log line for a change of a registration.
struct RegistrationNews: Hashable {
    let level: DaemonLog.Level
    let text: String

    /// Nil for changes that no one needs to read.
    init?(from old: RegistrationStatus, to new: RegistrationStatus) {
        let record =
            !new.isAddressRecord
            ? "\(new.type), port \(new.port)"
            : new.isAlias ? "alias" : "address \(new.addresses.joined(separator: ", "))"
        let what = "\(new.wanted.quotedForMessage) (\(record))"
        switch new.state {
        case .established where old.state != new.state || old.name != new.name:
            let name = new.name == new.wanted ? "" : " as \(new.name.quotedForMessage), for the name is taken"
            let why = new.check == nil ? "" : ": its check passes"
            (level, text) = (.notice, "\(what) is published\(name)\(why)")
        case .withheld where old.reason != new.reason:
            let reason = new.reason ?? ""
            // A different failure is no news to act on.
            let isNews = old.health != new.health
            let verb = old.health == .passing ? "is withdrawn" : "is not published"
            (level, text) = (isNews ? .warning : .info, "\(what) \(verb): \(reason)")
        case .conflicted, .failed:
            guard old.state != new.state else { return nil }
            (level, text) = (.error, "\(what) is not published: \(new.reason ?? new.state.rawValue)")
        case .waiting where new.isRetrying:
            guard old.reason != new.reason else { return nil }
            (level, text) = (.error, "\(what) is not published: \(new.reason ?? new.state.rawValue); it is tried again")
        case .waiting where old.reason != new.reason:
            (level, text) = (.info, "\(what) waits: \(new.reason ?? "")")
        case .withdrawn where old.state == .established || old.isRetrying:
            (level, text) = (.info, "\(what) is withdrawn")
        default:
            guard old.warning != new.warning, new.state != .withdrawn else { return nil }
            if let warning = new.warning {
                (level, text) = (.warning, "\(what): \(warning)")
            } else {
                (level, text) = (.info, "\(what): no longer: \(old.warning ?? "")")
            }
        }
    }
}

/// What the log last said about a registration: a silent, momentary re-registration is not logged as published twice.
struct ToldRegistration {
    private var told: RegistrationStatus?

    /// The line for its new state, if any.
    mutating func news(from old: RegistrationStatus, to new: RegistrationStatus) -> RegistrationNews? {
        guard let news = RegistrationNews(from: told ?? old, to: new) else { return nil }
        told = new
        return news
    }
}

extension Registry {
    /// A registration that a request led to.
    package struct Added: Sendable {
        package let registration: ManagedRegistration
        package let isNew: Bool
        /// What the request changed of an earlier one.
        package var change: RegistrationChange?
    }

    static var unknown: ControlError {
        ControlError(403, DiscoveryError.Code.notPermitted.description, "only the control socket knows who you are")
    }

    static func nothing(called id: String) -> ControlError {
        let reason = "there is no service with the id \(id.quotedForMessage)"
        return ControlError(404, DiscoveryError.Code.notFound.description, reason)
    }
}
