package import DNSSD

/// The outcome of an update.
package enum UpdateOutcome: Hashable, Sendable {
    /// The server made the changes.
    case done
    /// A name exists that must be free (YXDOMAIN).
    case nameInUse
    /// Records exist that must not (YXRRSET).
    case recordsExist
    /// Records are missing or differ from those required (NXRRSET, NXDOMAIN).
    case notAsRequired
    /// The server failed (SERVFAIL), which can also mean that a limit is reached.
    case serverFailed
    /// The server refused, and changed nothing.
    case refused(DiscoveryError)
    /// No trustworthy answer came, so the changes may or may not have been made. The reason is for people.
    case unheard(String)
}

/// The names that messages about refused updates mention.
package struct UpdateContext: Hashable, Sendable {
    /// The zone to update.
    package var zone: String
    /// Its server, as address and port.
    package var server: String
    /// The key's name.
    package var key: String

    /// Returns the outcome that an answer reports. An answer without a valid signature proves nothing: a refusal in it
    /// is a hint, and a success is not believed.
    /// - Parameters:
    ///   - answer: the answer.
    ///   - subject: the name to be written, for people.
    ///   - clock: this machine's clock, in seconds since 1970.
    package func outcome(of answer: UpdateAnswer, subject: String, clock: UInt64) -> UpdateOutcome {
        switch answer.signatureError {
        case 16: return .refused(.init(.notPermitted, "the server \(server) has another secret for the key \(key)"))
        case 17:
            return .refused(
                .init(
                    .notPermitted, "the server \(server) does not know the key \(key), or it may not write \(subject)"))
        case 18:
            let theirs = answer.serverTime.map { "; the server's shows \(Self.time($0))" } ?? ""
            return .refused(
                .init(
                    .notPermitted,
                    "the server \(server) refuses the time of the signature: this machine's clock shows "
                        + Self.time(clock) + theirs))
        default: break
        }
        guard answer.isTrusted || 4...5 ~= answer.responseCode || answer.responseCode == 9 else {
            return .unheard("the server \(server) sends answers without a valid signature")
        }
        if answer.isRepeated, [3, 6, 7, 8].contains(answer.responseCode) {
            return .unheard("the server \(server) did not answer an update the first time")
        }
        switch answer.responseCode {
        case 0: return .done
        case 2: return .serverFailed
        case 3, 8: return .notAsRequired
        case 4:
            return .refused(
                .init(.misconfigured, "\(server) takes no updates: it is a resolver rather than the server of \(zone)"))
        case 5:
            return .refused(.init(.notPermitted, "the server \(server) does not let the key \(key) write \(subject)"))
        case 6: return .nameInUse
        case 7: return .recordsExist
        case 9, 10: return .refused(.init(.misconfigured, "the server \(server) does not serve the zone \(zone)"))
        default:
            return .refused(
                .init(.backendFailed, "the server \(server) answers an update with error \(answer.responseCode)"))
        }
    }

    /// Returns hours, minutes and seconds of UTC.
    private static func time(_ seconds: UInt64) -> String {
        let parts = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60]
        return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":") + " UTC"
    }
}
