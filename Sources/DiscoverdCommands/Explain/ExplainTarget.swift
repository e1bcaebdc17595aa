#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import MulticastEngine
internal import WireNames

/// What `explain` is asked about.
enum ExplainTarget {
    case subject(InquirySubject)
    /// A service's name, a type's or a host's: the network tells.
    case word(String)

    /// - Parameters:
    ///   - text: a name, a full name, a type or a host.
    ///   - type: the type of a service whose name `text` is.
    /// - Throws: where it is none of these, or not of the link.
    init(_ text: String, type: ServiceType?) throws {
        if let type {
            self = .subject(.service(ServiceInstance(name: try Self.name(text), type: type)))
        } else if ServiceInstance.looksLikeFullName(text) {
            let instance = try ServiceInstance(fullName: text)
            guard instance.domain == .local else {
                throw Parsing.Failure("it explains names of the link, below local, and not of \(instance.domain)")
            }
            self = .subject(.service(instance))
        } else if text.hasPrefix("_") {
            self = .subject(.type(try ServiceType(named: text)))
        } else if let host = try? QueryCommand.name(text), text.contains("."), host.isAskedOnLink, !host.isReverse {
            self = .subject(.host(host))
        } else {
            _ = try Self.name(text)
            self = .word(text)
        }
    }

    /// Asks what a word can be.
    static func census(of word: String) throws -> NameCensus {
        let types = [ServiceType.Transport.tcp, .udp].compactMap { ServiceType(identifier: word, transport: $0) }
        return NameCensus(usual: try usual(word), types: types, host: try? QueryCommand.name(word))
    }

    /// What a word is, as a census has shown: a service before a type, and that before a host. What is nowhere is a service of the usual
    /// type.
    static func subject(of word: String, in census: NameCensus) throws -> InquirySubject {
        let services = census.services(named: try name(word))
        if let first = services.first { return .service(first) }
        let types = census.types.filter { $0.name.lowercased() == "_" + word.lowercased() }.sorted {
            $0.description < $1.description
        }
        if let first = types.first { return .type(first) }
        if let host = census.host { return .host(host) }
        return .service(try usual(word))
    }

    private static func usual(_ word: String) throws -> ServiceInstance {
        ServiceInstance(name: try name(word), type: try ServiceType(DefaultType.text))
    }

    private static func name(_ text: String) throws -> ServiceName {
        guard (1...ServiceName.maximumLength).contains(text.utf8.count) else {
            throw Parsing.Failure("a service's name has 1 to \(ServiceName.maximumLength) bytes")
        }
        return ServiceName(observed: text)
    }
}
#endif
