#if Commands
internal import CommandFrame
internal import DNSSD
internal import DiscoveryControl

extension ServiceArguments {
    /// The one of the services that the daemon publishes which is named.
    /// - Throws: status 1 if there is none, 64 if the name is that of several types.
    func registration(in domain: Domain, _ session: Session) async throws -> RegistrationStatus {
        let named = try named(in: domain)
        let name = try named?.name ?? observedName()
        let domain = named?.domain ?? domain
        let own = try await session.registrations().filter { status in
            (named == nil || ServiceType(observed: status.type) == named?.type)
                && Domain(observed: status.domain) == domain
                && (status.name == name.text || status.wanted == name.text)
        }
        // Prefer a match with the current name: by now the wanted name may belong to another service.
        let now = own.filter { $0.name == name.text }
        let meant = now.isEmpty ? own : now
        guard let one = meant.first else {
            throw CommandError(
                .notFound,
                "the daemon publishes no \"\(name)\"\(named.map { " of type \($0.type)" } ?? "")",
                advice: ["'discoverd ls' lists what it publishes."]
            )
        }
        guard named != nil || Set(meant.map(\.type)).count == 1 else {
            throw CommandError(
                .usage, "\(meant.count) services have the name \"\(name)\": say which by its type",
                advice: meant.map { "\(name.description) \($0.type.escapedForTerminal)" })
        }
        return one
    }
}
#endif
