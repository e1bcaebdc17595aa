#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD

extension BrowseQuery {
    /// The domain that one of several streams is about: a stream for each domain, type after type.
    func domain(_ stream: Int) -> Domain { domains.isEmpty ? .local : domains[stream % domains.count] }

    /// What is sought: `service of type _witap._tcp`
    var description: String {
        let named = filter.name.map { "service \($0.text.quotedForMessage)" } ?? "service"
        let typed = types.isEmpty ? named : "\(named) of type \(types.map(\.description).joined(separator: " or "))"
        let kind = filter.hasConditions ? "\(typed) that is wanted" : typed
        return domains == [.local] ? kind : "\(kind) in \(domains.map(\.description).joined(separator: ", "))"
    }

    /// For commands that list what is there.
    var isNotFound: String { "no \(description) was found\(hint)" }

    /// For commands that wait for what comes.
    var isAwaited: String { "no \(description) so far; waiting for one, Ctrl-C ends\(hint)" }

    private var hint: String {
        if types.contains(where: { $0.name.lowercased() == "_all" }) { return "; --all looks for every type" }
        let meant = types.compactMap { KnownType.meant(by: $0.description) }
        return meant.isEmpty ? "" : "; did you mean \(meant.map(\.type).joined(separator: " or "))?"
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
