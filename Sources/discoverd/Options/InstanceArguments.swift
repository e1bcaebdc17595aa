internal import ArgumentParser
internal import AvahiEngine
internal import DNSSD

/// Which service: `NAME [TYPE]`, or a full name.
struct InstanceArguments: ParsableArguments {
    @Argument(help: "The service's name, or its full name as tony._witap._tcp.local.")
    var name: String

    @Argument(help: "The type; default: _witap._tcp.", transform: Parsing.type)
    var type: ServiceType?

    @OptionGroup var domain: DomainOption

    func validate() throws {
        do {
            _ = try instance().type.checkedForAvahi()
        } catch let error as DiscoveryError {
            throw ValidationError(error.message)
        }
    }

    /// The service. A name that reads as a full name is one, unless a type is given too.
    func instance() throws -> ServiceInstance {
        if type == nil, ServiceInstance.looksLikeFullName(name) { return try ServiceInstance(fullName: name) }
        return ServiceInstance(
            name: try observedName(),
            type: try type ?? ServiceType(DefaultType.text),
            domain: domain.domain
        )
    }

    /// A name that is there may break the rules for publishing: only its length is checked.
    private func observedName() throws -> ServiceName {
        do {
            return try ServiceName(name)
        } catch {
            guard (1...ServiceName.maximumLength).contains(name.utf8.count) else { throw error }
            return ServiceName(observed: name)
        }
    }
}

/// The type of a service when none is named, so that the commands find each other's services.
enum DefaultType {
    static let text = "_witap._tcp"
}
