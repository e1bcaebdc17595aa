public import DNSSD

/// Decides who may publish what: root, the daemon's own user, members of a group, users that a rule allows, and, while
/// connected, anyone.
public struct AccessRules: Hashable, Sendable {
    /// Lets a user or a group publish some types.
    public struct Rule: Hashable, Sendable {
        /// Whom a rule is about.
        public enum Subject: Hashable, Sendable {
            /// A user by name, or by number when the text is one.
            case user(String)
            /// A group by name; its number is nil when there was no such group when the rule was read.
            case group(String, id: UInt32?)
        }

        /// Whom the rule is about.
        public var subject: Subject
        /// The types; nil is all.
        public var types: Set<ServiceType>?
        /// The domains, with all below them.
        public var domains: Set<Domain>

        /// The other hosts whose services may be published, with their addresses.
        public var hosts: Set<HostName>

        /// Creates a rule.
        public init(
            subject: Subject, types: Set<ServiceType>?, domains: Set<Domain> = [.local], hosts: Set<HostName> = []
        ) {
            self.subject = subject
            self.types = types
            self.domains = domains
            self.hosts = hosts
        }
    }

    /// Whose services may be published as long as a command is connected.
    public enum Attached: String, Hashable, Sendable, CaseIterable {
        /// Every user's, in `local`: avahi-daemon takes them from every user, too.
        case anyone
        /// Those that the group and the rules permit.
        case rules
    }

    /// Whether something is allowed, and why.
    public enum Decision: Hashable, Sendable {
        /// It is; `by` names the rule for the log.
        case allowed(by: String)
        /// It is not; the reason names the group or rule that would allow it, and is safe for a terminal.
        case denied(reason: String)

        /// Whether it is allowed.
        public var isAllowed: Bool { refusal == nil }

        /// Why it is not.
        public var refusal: String? { if case .denied(let reason) = self { reason } else { nil } }
    }

    /// The name of the group whose members may do everything.
    public var group = "discoverd"
    /// That group's number; nil when there is no such group.
    public var groupID: UInt32?
    /// The daemon's own user.
    public var ownUserID: UInt32 = 0
    /// The rules, in the order of the file.
    public var rules: [Rule] = []
    /// Who may publish while connected.
    public var attached = Attached.anyone
    /// Services that one user may have published through the socket: 0 to 4096.
    public var servicesPerUser = 64
    /// The same for root: 0 to 4096.
    public var servicesOfRoot = 1024

    /// Root and the daemon's user; others only while they are connected.
    public init() {}

    /// How many services a user may have published through the socket.
    public func quota(uid: UInt32) -> Int { uid == 0 ? servicesOfRoot : servicesPerUser }
}
