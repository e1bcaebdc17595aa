internal import DNSSD
internal import DiscoveryDaemon

extension AccessRules {
    /// Reads `access:`, overriding the current rules.
    init(_ value: YAMLValue, into rules: AccessRules, groupID: (String) -> UInt32?) throws(ConfigurationError) {
        self = rules
        let mapping = try YAMLMapping(value, keys: ["group", "allow", "attached"])
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
        let mapping = try YAMLMapping(limits, keys: ControlLimits.keys)
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
            let text = try entry.text()
            domains.insert(try entry.reading { () throws(DiscoveryError) in try Domain(text) })
        }
        var hosts: Set<HostName> = []
        for entry in try mapping["hosts"]?.list(atMost: 64) ?? [] {
            let text = try entry.text()
            guard !text.contains("*") else {
                throw entry.error("hosts takes names, and no pattern: name each host, as printer.local")
            }
            hosts.insert(try entry.reading { () throws(DiscoveryError) in try HostName(text) })
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
