#if Commands
internal import DNSSD
internal import Discovery

/// Which services are looked for, and which of those found are wanted. A value: the options of a command say it, or the words of a
/// command line that is short enough (`BrowseWords`).
struct BrowseQuery {
    /// None for every type.
    let types: [ServiceType]
    var domains: [Domain] = [.local]
    var interfaces = InterfaceFilter.all
    /// Nil for both.
    var family: IPAddress.Family?
    var resolution = ServiceQuery.Resolution.none
    var filter = ServiceFilter.everything

    /// What is sought, in words.
    var subject: Subject {
        Subject(types: types, domains: domains, name: filter.name?.text, isFiltered: filter.hasConditions)
    }

    /// A stream for each domain, type after type.
    func streams(over network: LocalNetwork) -> [ServiceEvents] {
        let kinds: [ServiceType?] = types.isEmpty ? [nil] : types
        return kinds.flatMap { type in
            domains.map { domain in
                type.map {
                    network.browse($0, in: domain, on: interfaces, over: family, resolution: resolution)
                } ?? network.browseAll(in: domain, on: interfaces, over: family, resolution: resolution)
            }
        }
    }

    /// The question to a daemon that may know the whole list; nil where its answer would not be all that is to be shown: for several
    /// questions, for every type, which always has to be asked of the network, and with a filter, which is not the daemon's.
    var listing: ServiceQuery? {
        guard types.count == 1, let type = types.first, domains.count == 1, let domain = domains.first,
            filter.isEmpty
        else { return nil }
        return ServiceQuery(.type(type, domain), interfaces: interfaces, family: family, resolution: resolution)
    }
}
#endif
