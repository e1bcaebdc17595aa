#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import Discovery

/// What a service to publish says of itself.
struct OfferOptions: ParsableArguments {
    @Option(
        name: .long, help: "The type; default: _witap._tcp.", completion: DaemonCandidates.types,
        transform: Parsing.type)
    var type: ServiceType?

    @OptionGroup var txt: TXTOptions

    /// The service with this name and port, and with the type's subtype before others.
    func service(
        _ name: ServiceName, port: Port, subtypes: [String] = [], in domain: Domain, at place: NetworkOptions
    ) throws -> OfferedService {
        let type = try type ?? ServiceType(DefaultType.text)
        return OfferedService(
            name: name,
            type: type,
            domain: domain,
            port: port,
            txt: try txt.record(),
            subtypes: (type.subtype.map { [$0] } ?? []) + subtypes,
            interfaces: try place.interfaces(),
            family: place.family
        )
    }

    /// Writes what its publisher may not have meant.
    func tellDoubts(of service: OfferedService, in session: Session) {
        if type == nil { session.notices.notice(DefaultType.notice(port: service.port)) }
        for warning in service.txt.warnings { session.notices.notice(warning) }
    }
}
#endif
