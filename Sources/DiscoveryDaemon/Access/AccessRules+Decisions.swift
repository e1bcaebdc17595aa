public import DNSSD

extension AccessRules {
    /// Whether a user may publish a service. `gids` has the primary and the supplementary groups; `isAttached`: it lives as long as
    /// the connection that it is asked for on.
    public func mayPublish(
        uid: UInt32,
        gids: [UInt32],
        userName: String?,
        _ service: OfferedService,
        isAttached: Bool
    ) -> Decision {
        let general = mayManage(uid: uid, gids: gids, userName: userName)
        let isOwnKey = uid == 0 || uid == ownUserID
        // The daemon's key for a domain is for its own services, and for whom a rule names.
        guard !general.isAllowed || service.domain != .local && !isOwnKey else { return general }
        let type = service.type
        for rule in rules where rule.applies(uid: uid, gids: gids, userName: userName) && rule.covers(service) {
            return .allowed(by: "rule \(rule.subject)")
        }
        if isAttached, attached == .anyone, service.domain == .local, service.host == nil {
            return .allowed(by: "attached: anyone")
        }
        let types = service.isAddressRecord ? "" : "\(type.base)"
        let what = "\(Self.show(uid: uid, userName)) may not publish \(service.isAddressRecord ? "an address" : types)"
        guard service.domain == .local else {
            let user = (userName ?? String(uid)).escapedForTerminal
            let rule = "allow: [{user: \(user), types: [\(type.base)], domains: [\(service.domain)]}]"
            return .denied(
                reason:
                    "\(what) in \(service.domain): only root and users whom a rule for that domain allows, as `\(rule)` "
                    + "under `access:` in discoverd.yaml")
        }
        if let host = service.host?.name {
            let user = (userName ?? String(uid)).escapedForTerminal
            return .denied(
                reason:
                    "\(what) of \(host): only root, members of the group \(groupText), and users whom a rule for that host "
                    + "allows, as `allow: [{user: \(user), types: [\(types)], hosts: [\(host)]}]` under `access:` in discoverd.yaml"
            )
        }
        let rule = "allow: [{user: \((userName ?? String(uid)).escapedForTerminal), types: [\(type.base)]}]"
        let who = "only root, members of the group \(groupText), and users whom a rule allows"
        guard isAttached else {
            return .denied(
                reason: "\(what) for longer than a command runs: \(who), as `\(rule)` under `access:` in discoverd.yaml"
            )
        }
        return .denied(
            reason: "\(what): \(who), as `\(rule)` or `attached: anyone` under `access:` in discoverd.yaml; "
                + "with --no-daemon a command goes to avahi-daemon itself")
    }

    /// The rules that let a user publish.
    package func rules(uid: UInt32, gids: [UInt32], userName: String?) -> [Rule] {
        rules.filter { $0.applies(uid: uid, gids: gids, userName: userName) }
    }

    /// Whether a user may do what concerns everyone, as reloading the configuration.
    public func mayManage(uid: UInt32, gids: [UInt32], userName: String?) -> Decision {
        if uid == 0 { return .allowed(by: "root") }
        if uid == ownUserID { return .allowed(by: "the daemon's user") }
        if let groupID, gids.contains(groupID) { return .allowed(by: "group \(groupText)") }
        return .denied(
            reason: "\(Self.show(uid: uid, userName)) may not do this: only root and members of the group \(groupText)")
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

extension AccessRules.Rule.Subject: CustomStringConvertible {
    /// `user alice` or `group web`, safe for a terminal.
    public var description: String {
        switch self {
        case .user(let name): "user \(name.escapedForTerminal)"
        case .group(let name, _): "group \(name.escapedForTerminal)"
        }
    }
}
