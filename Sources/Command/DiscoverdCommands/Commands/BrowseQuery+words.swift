#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON

extension BrowseQuery {
    /// The domain that one of several streams is about: a stream for each domain, type after type.
    func domain(_ stream: Int) -> Domain { domains.isEmpty ? .local : domains[stream % domains.count] }

    /// What is sought: `service of type _witap._tcp`
    var description: String {
        let named = filter.name.map { "service \($0.text.quotedForMessage)" } ?? "service"
        return named + place
    }

    /// ` of type _witap._tcp in home.example.org`
    private var place: String {
        let typed = types.isEmpty ? "" : " of type \(types.map(\.description).joined(separator: " or "))"
        return domains == [.local] ? typed : "\(typed) in \(domains.map(\.description).joined(separator: ", "))"
    }

    /// For commands that list what is there.
    /// - Parameter others: how many were found that the filter does not allow.
    func isNotFound(beside others: Int = 0) -> String {
        guard filter.hasConditions, others > 0 else { return "no \(description) was found\(hint)" }
        let options = filter.options.joined(separator: " ")
        return others == 1
            ? "the only service\(place) does not match \(options)"
            : "none of the \(others) services\(place) matches \(options)"
    }

    /// For commands that wait for what comes.
    var isAwaited: String {
        let matching = filter.hasConditions ? " that matches \(filter.options.joined(separator: " "))" : ""
        return "no \(description)\(matching) so far; waiting for one, Ctrl-C ends\(hint)"
    }

    private var hint: String {
        if types.contains(where: { $0.name.lowercased() == "_all" }) { return "; --all looks for every type" }
        let meant = types.compactMap { KnownType.meant(by: $0.description) }
        return meant.isEmpty ? "" : "; did you mean \(meant.map(\.type).joined(separator: " or "))?"
    }
}

extension KnownType {
    /// What a type that nobody offers may have been meant to be: the same name over the other transport, or a name that differs by a slip;
    /// nil for a type of the table, and where none is near.
    static func meant(by type: String) -> KnownType? {
        let labels = type.lowercased().split(separator: ".").suffix(2).map(String.init)
        guard labels.count == 2, of(labels.joined(separator: ".")) == nil else { return nil }
        let names = all.map { String($0.type.prefix { $0 != "." }) }
        let near = names.contains(labels[0]) ? labels[0] : Suggestion.nearest(to: labels[0], among: names)
        // `_x` is near to whatever begins with it.
        guard let near, labels[0].count > 3 else { return nil }
        return of("\(near).\(labels[1])") ?? all.first { $0.type.hasPrefix("\(near).") }
    }
}

extension Domain {
    /// What to do where a service of a type, or of any, was not found in it.
    func listingAdvice(_ type: ServiceType? = nil) -> String {
        let place = self == .local ? "" : " --domain \(self)"
        return "'discoverd browse \(type.map(\.description) ?? "--all") -t\(place)' lists what is there."
    }
}

extension ProgramNotices {
    /// Reports that something was left out.
    func degraded(_ reason: String) { notice(Self.degradation(reason)) }

    static func degradation(_ reason: String) -> String { "not everything may be shown: \(reason)" }
}

extension Session {
    /// Tells a person that nothing is there yet; the command would otherwise seem idle.
    func tellWaiting(for query: BrowseQuery) {
        if terminal.isInteractive, !json { notices.notice(query.isAwaited) }
    }

    /// Reports that no interface matches the filter.
    func checkInterfaces(_ filter: InterfaceFilter) {
        guard !filter.patterns.isEmpty, let all = LocalInterface.all(), !all.contains(where: { filter.allows($0.name) })
        else { return }
        let patterns = filter.patterns.map { "'\($0)'" }.joined(separator: ", ").escapedForTerminal
        let names = all.filter { !$0.isLoopback }.map(\.name).joined(separator: ", ")
        notices.notice("no interface of this machine is meant by \(patterns); there are: \(names.escapedForTerminal)")
    }
}
#endif
