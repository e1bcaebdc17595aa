#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl
internal import Libc

extension ServiceArguments {
    /// The one of the services that the daemon publishes which is named.
    /// - Throws: status 1 if there is none, 64 if the name is that of several types.
    func registration(in domain: Domain, _ session: Session) async throws -> RegistrationStatus {
        let all = try await registrations(in: domain, session)
        guard let one = all.first else { throw CommandError(.notFound, "the daemon publishes nothing of that name") }
        return one
    }

    /// The same; of a host with address records all of this user, or all if this user has none.
    func registrations(in domain: Domain, _ session: Session) async throws -> [RegistrationStatus] {
        let named = try named(in: domain)
        let name = try named?.name ?? observedName()
        let domain = named?.domain ?? domain
        let all = try await session.registrations().filter { status in
            (named == nil || ServiceType(observed: status.type) == named?.type)
                && Domain(observed: status.domain) == domain
        }
        let meant = all.meant(by: name.text)
        guard let one = meant.first else {
            throw CommandError(
                .notFound,
                "the daemon publishes no \"\(name)\"\(named.map { " of type \($0.type)" } ?? "")",
                advice: ["'discoverd ls' lists what it publishes."]
            )
        }
        if meant.allSatisfy(\.isAddressRecord) {
            let own = meant.filter { $0.uid == geteuid() }
            return own.isEmpty ? meant : own
        }
        guard named != nil || Set(meant.map(\.type)).count == 1 else {
            throw CommandError(
                .usage, "\(meant.count) services have the name \"\(name)\": say which by its type",
                advice: meant.map { "\(name.description) \($0.type.escapedForTerminal)" })
        }
        return [one]
    }
}

extension [RegistrationStatus] {
    /// Those of a name. One that was wanted counts where no current one fits: by now it may belong to another service. A name of one label
    /// is also that of a host below `local`.
    fileprivate func meant(by name: String) -> [RegistrationStatus] {
        let current = filter { $0.name == name }
        if !current.isEmpty { return current }
        let wanted = filter { $0.wanted == name }
        guard wanted.isEmpty, let host = try? HostName.ofLink(name) else { return wanted }
        return filter { $0.isAddressRecord && (try? HostName($0.name)) == host }
    }
}
#endif
