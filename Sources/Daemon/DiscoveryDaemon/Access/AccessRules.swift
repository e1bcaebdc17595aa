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
        public var domains: Set<Domain> = [.local]
        /// The other hosts whose services may be published, with their addresses; and aliases of this one.
        public var hosts: Set<HostName> = []
    }

    /// Whose services may be published as long as a command is connected.
    public enum Attached: String, Hashable, Sendable, CaseIterable {
        /// Every user's, in `local`: avahi-daemon takes them from every user, too.
        case anyone
        /// Those that the group and the rules permit.
        case rules
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
    /// What labels of containers and units may have published.
    public var labels = LabelGrants()
    /// Services that one user may have published through the socket: 0 to 4096.
    public var servicesPerUser = 64
    /// The same for root: 0 to 4096.
    public var servicesOfRoot = 1024

    /// How many services a user may have published through the socket.
    public func quota(uid: UInt32) -> Int { uid == 0 ? servicesOfRoot : servicesPerUser }
}

extension AccessRules {
    /// Reads `access:`, overriding the current rules.
    init(_ value: YAMLValue, into rules: AccessRules, groupID: (String) -> UInt32?) throws(ConfigurationError) {
        self = rules
        let mapping = try YAMLMapping(value, keys: ["group", "allow", "attached", "labels"])
        if let value = mapping["group"] {
            group = try value.accountName()
            if groupID(group) == nil {
                value.faults.doubt(
                    "\(value.place): there was no group \(group.escapedForTerminal) when this was read: no one is in it"
                )
            }
        }
        // A configuration that names a group or a user decides who may publish.
        if mapping["group"] != nil || mapping["allow"] != nil { attached = .rules }
        if let value = mapping["attached"] { attached = try value.word(Attached.self) }
        if let value = mapping["labels"] { labels = try LabelGrants(value) }
        for entry in try mapping["allow"]?.list(atMost: 256) ?? [] {
            self.rules.append(try Rule(entry, groupID: groupID))
        }
    }

    /// The rules that permit nothing to anybody now, because there is no such account.
    /// - Parameter hasUser: whether there is a user of a name.
    func doubts(hasUser: (String) -> Bool) -> [String] {
        rules.compactMap { rule in
            switch rule.subject {
            case .user(let name) where UInt32(name) == nil && !hasUser(name):
                "access: there is no user \(name.escapedForTerminal): the rule permits nothing until there is"
            case .group(let name, nil):
                "access: there was no group \(name.escapedForTerminal) when this was read: the rule permits nothing"
            default: nil
            }
        }
    }

    /// Reads the quotas, which are part of `limits:`.
    mutating func readQuotas(_ limits: YAMLValue) throws(ConfigurationError) {
        let mapping = try YAMLMapping(limits, keys: ConnectionTable.Limits.keys)
        if let value = mapping["services-per-user"] { servicesPerUser = try value.integer(in: 0...4096) }
        if let value = mapping["services-of-root"] { servicesOfRoot = try value.integer(in: 0...4096) }
    }
}

extension AccessRules.Rule {
    fileprivate init(_ value: YAMLValue, groupID: (String) -> UInt32?) throws(ConfigurationError) {
        let mapping = try YAMLMapping(value, keys: ["user", "group", "types", "domains", "hosts"])
        let subject: Subject
        switch (mapping["user"], mapping["group"]) {
        case (let user?, nil): subject = .user(try user.accountName())
        case (nil, let group?):
            let name = try group.accountName()
            subject = .group(name, id: groupID(name))
        default: throw value.error("a rule has either user or group")
        }
        let types = try mapping.required("types")
        let isAll = types.isScalar ? try types.text() == "*" : false
        var domains: Set<Domain> = []
        for entry in try mapping["domains"]?.list(atMost: 64) ?? [] {
            domains.insert(try entry.parsed(Domain.init(_:)))
        }
        var hosts: Set<HostName> = []
        for entry in try mapping["hosts"]?.list(atMost: 64) ?? [] {
            guard try !entry.text().contains("*") else {
                throw entry.error("hosts takes names, and no pattern: name each host, as printer.local")
            }
            hosts.insert(try entry.parsed(HostName.init(_:)))
        }
        self.init(
            subject: subject, types: isAll ? nil : Set(try DaemonConfiguration.types(types).map(\.base)),
            domains: domains.isEmpty ? [.local] : domains, hosts: hosts)
    }
}

extension YAMLValue {
    /// A user's or group's name or number.
    fileprivate func accountName() throws(ConfigurationError) -> String {
        let text = try text()
        guard (1...256).contains(text.utf8.count), !text.utf8.contains(0) else {
            throw error("\(name) must be the name of an account")
        }
        return text
    }
}

extension AccessRules {
    /// Why a user may not publish a service: it names the group or rule that would allow it, and is safe for a terminal. Nil when the user
    /// may. `gids` has the primary and the supplementary groups; `isAttached`: it lives as long as the connection that it is asked for on.
    func refusalToPublish(
        uid: UInt32,
        gids: [UInt32],
        userName: String?,
        _ service: OfferedService,
        isAttached: Bool
    ) -> String? {
        let general = refusalToManage(uid: uid, gids: gids, userName: userName)
        let isOwnKey = uid == 0 || uid == ownUserID
        // The daemon's key for a domain is for its own services, and for whom a rule names.
        guard general != nil || service.domain != .local && !isOwnKey else { return nil }
        let type = service.type
        if rules(uid: uid, gids: gids, userName: userName).contains(where: { $0.covers(service) }) { return nil }
        if isAttached, attached == .anyone, service.domain == .local, service.host == nil { return nil }
        let types = service.isAddressRecord ? "" : "\(type.base)"
        let offer = service.isAlias ? "the alias" : service.isAddressRecord ? "an address of" : "\(types) of"
        let who = "\(Self.show(uid: uid, userName)) may not publish"
        let what = "\(who) \(types)"
        guard service.domain == .local else {
            let user = (userName ?? String(uid)).escapedForTerminal
            let hosts = service.host.map { ", hosts: [\($0.name)]" } ?? ""
            let rule = "allow: [{user: \(user), types: [\(types)], domains: [\(service.domain)]\(hosts)}]"
            let what = service.host.map { "\(who) \(offer) \($0.name)" } ?? what
            return "\(what) in \(service.domain): only root and users whom a rule for that domain allows, as `\(rule)` "
                + "under `access:` in discoverd.yaml"
        }
        if let host = service.host?.name {
            let user = (userName ?? String(uid)).escapedForTerminal
            return
                "\(who) \(offer) \(host): only root, members of the group \(groupText), and users whom a rule for that host "
                + "allows. A rule is `allow: [{user: \(user), types: [\(types)], hosts: [\(host)]}]` under `access:` in discoverd.yaml"
        }
        let rule = "allow: [{user: \((userName ?? String(uid)).escapedForTerminal), types: [\(type.base)]}]"
        let those = "only root, members of the group \(groupText), and users whom a rule allows"
        guard isAttached else {
            return "\(what) for longer than a command runs: \(those), as `\(rule)` under `access:` in discoverd.yaml"
        }
        return "\(what): \(those), as `\(rule)` or `attached: anyone` under `access:` in discoverd.yaml; "
            + "with --socket none a command goes to avahi-daemon itself"
    }

    /// The rules that let a user publish.
    package func rules(uid: UInt32, gids: [UInt32], userName: String?) -> [Rule] {
        rules.filter { $0.applies(uid: uid, gids: gids, userName: userName) }
    }

    /// Why a user may not do what concerns everyone, as reloading the configuration; nil when the user may.
    func refusalToManage(uid: UInt32, gids: [UInt32], userName: String?) -> String? {
        if uid == 0 || uid == ownUserID { return nil }
        if let groupID, gids.contains(groupID) { return nil }
        return "\(Self.show(uid: uid, userName)) may not do this: only root and members of the group \(groupText)"
    }

    private var groupText: String {
        groupID == nil ? "\(group.escapedForTerminal) (which does not exist)" : group.escapedForTerminal
    }

    private static func show(uid: UInt32, _ name: String?) -> String {
        name.map { "user \($0.escapedForTerminal)" } ?? "user \(uid)"
    }
}

extension AccessRules.Rule {
    fileprivate func applies(uid: UInt32, gids: [UInt32], userName: String?) -> Bool {
        switch subject {
        case .user(let name):
            if let number = UInt32(name) { return number == uid }
            return name == userName
        case .group(_, let id): return id.map(gids.contains) ?? false
        }
    }

    fileprivate func covers(_ service: OfferedService) -> Bool {
        (service.isAddressRecord || types?.contains(service.type.base) ?? true)
            && domains.contains(where: service.domain.isWithin)
            && (service.host.map { hosts.contains($0.name) } ?? true)
    }
}
