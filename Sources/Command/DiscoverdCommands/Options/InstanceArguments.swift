#if Commands
internal import ArgumentParser
internal import AvahiEngine
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import DiscoveryJSON
internal import DiscoveryControl
internal import Libc

/// Names a service: `NAME [TYPE]`, or a full name.
struct ServiceArguments: ParsableArguments {
    @Argument(
        help: "The service's name, or its full name as tony._witap._tcp.local.", completion: DaemonCandidates.names)
    var name: String

    @Argument(
        help: ArgumentHelp("The type, where several services have the name.", valueName: "type"),
        completion: DaemonCandidates.types, transform: TypeWord.init)
    var typeWord: TypeWord?

    var type: ServiceType? { typeWord?.type }

    func validate() throws {
        // Other programs want a port, and a host behind it or before it.
        if let typeWord, typeWord.hint != nil, (try? Parsing.port(name)) != nil {
            let bare = typeWord.text.escapedForTerminal
            throw ValidationError(
                "'\(name)' is a number, and '\(bare)' no type: name the service alone, '\(bare)', for it says its port itself. "
                    + "Of a service that is called \(name), write the type out: '\(name) \(typeWord.type)'.")
        }
        try Parsing.validate { if try named(in: .local) == nil { _ = try Parsing.soughtName(name) } }
    }

    /// As of `ServiceInstance.named`.
    func named(in domain: Domain) throws -> ServiceInstance? { try ServiceInstance.named(name, type, in: domain) }
}

extension ServiceInstance {
    /// The service, if its type is given; else nil. A name that reads as a full name is taken as one, unless a type is given too.
    fileprivate static func named(_ name: String, _ type: ServiceType?, in domain: Domain) throws -> ServiceInstance? {
        if let type { return ServiceInstance(name: try Parsing.soughtName(name), type: type, domain: domain) }
        return looksLikeFullName(name) ? try ServiceInstance(fullName: name) : nil
    }
}

/// A service that is looked for: its name, and where. A value.
struct SoughtService {
    let name: String
    let type: ServiceType?
    let place: DomainOption

    /// The domain of a full name, or the one that was named.
    var wish: DomainWish {
        var wish = place.wish
        if let named = try? named() { wish.domains = [named.domain] }
        return wish
    }

    /// The requested type, if any.
    var types: [ServiceType] { (try? named()).map { [$0.type] } ?? [] }

    /// Refuses a word that cannot name a service; with a type, any word can.
    func require(for command: String) throws {
        if type == nil { try WordKind.requireService(name, for: command) }
        try Parsing.validate { if try named() == nil { _ = try Parsing.soughtName(name) } }
    }

    /// As of `ServiceInstance.named`.
    func named() throws -> ServiceInstance? { try ServiceInstance.named(name, type, in: place.domain) }
}

/// The type used for publishing when none is given (docs/decisions/0022-the-usual-type-first.md).
enum DefaultType {
    static let text = "_witap._tcp"

    /// Shown when the type was not chosen.
    static func notice(port: Port) -> String {
        guard let known = KnownType.suggested(by: port.rawValue) else {
            return "the type is \(text), that of an example: --type says another, as --type _http._tcp"
        }
        return
            "the type is \(text), that of an example: port \(port) suggests --type \(known.type) (\(known.title))"
    }
}

extension ServiceArguments {
    /// The services that the daemon publishes which are named, on whatever links, and all address records of a host: all of this user, or
    /// all if this user has none.
    /// - Throws: status 1 if there is none, 64 if the name is that of several types.
    func registrations(in domain: Domain, _ session: Session) async throws -> [RegistrationStatus] {
        let named = try named(in: domain)
        let name = try named?.name ?? Parsing.soughtName(self.name)
        let domain = named?.domain ?? domain
        let all = try await session.registrations().filter { status in
            (named == nil || ServiceType(observed: status.type) == named?.type)
                && (Domain(observed: status.domain) == domain
                    // The whole name of an alias says its domain.
                    || status.isAlias && status.isAddressRecord && [status.name, status.wanted].contains(name.text))
        }
        let meant = all.meant(by: name.text)
        guard !meant.isEmpty else {
            throw CommandError(
                .notFound, "the daemon publishes no \"\(name)\"\(named.map { " of type \($0.type)" } ?? "")",
                advice: ["'discoverd status --services' lists what it publishes."])
        }
        let types = Set(meant.map(\.type))
        guard named != nil || types.count == 1 else {
            throw CommandError(
                .usage, "\(types.count) types have a service of the name \"\(name)\": say which by its type",
                advice: types.sorted().map { "\(name.description) \($0.escapedForTerminal)" })
        }
        // What the configuration or a label publishes is nobody's to withdraw.
        let own = meant.filter { $0.uid == geteuid() && $0.origin.isRequested }
        return own.isEmpty ? meant : own
    }
}

extension [RegistrationStatus] {
    /// Those of a name. One that was wanted counts where no current one fits: by now it may belong to another service. A name of one label
    /// is also that of a host below `local`, or of an alias in its domain.
    fileprivate func meant(by name: String) -> [RegistrationStatus] {
        let current = filter { $0.name == name }
        if !current.isEmpty { return current }
        let wanted = filter { $0.wanted == name }
        guard wanted.isEmpty else { return wanted }
        return filter { status in
            let alias = Domain(observed: status.domain).flatMap { try? OfferedAlias(name, in: $0).name }
            let hosts = [try? HostName.ofLink(name), alias].compactMap(\.self)
            return status.isAddressRecord
                && [status.name, status.wanted].contains { HostName(observed: $0).map(hosts.contains) ?? false }
        }
    }
}
#endif
