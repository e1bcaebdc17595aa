#if Commands
internal import CommandFrame
internal import DNSMessage
internal import DNSSD
internal import MulticastEngine
internal import DiscoverySystem

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
            guard instance.type.description != "_dns-sd._udp" else {
                throw Parsing.Failure("it explains services, types and hosts; 'discoverd types' lists the types")
            }
            guard instance.domain == .local else {
                throw Parsing.Failure("it explains names of the link, below local, and not of \(instance.domain)")
            }
            self = .subject(.service(instance))
        } else if text.hasPrefix("_") {
            if let name = try? QueryCommand.name(text), name.labels.count > 2, !name.isAskedOnLink {
                throw Parsing.Failure("it explains types of the link, and not of other domains")
            }
            self = .subject(.type(try ServiceType(sought: text)))
        } else if let host = try? QueryCommand.name(text), text.contains("."), host.isAskedOnLink, !host.isReverse {
            self = .subject(.host(host))
        } else {
            _ = try Self.name(text)
            if [".", "local", "local."].contains(text.lowercased()) {
                throw Parsing.Failure("it explains services, types and hosts; 'discoverd types' lists the types")
            }
            try Self.refuseForeign(text)
            self = .word(text)
        }
    }

    /// Refuses what is an address, or a name that DNS servers are asked for. A service's name may have dots, too: with its type it is one.
    private static func refuseForeign(_ text: String) throws {
        if IPAddress(String(text.prefix { $0 != "%" })) != nil {
            throw Parsing.Failure("it explains names; 'discoverd host \(text)' finds the names of an address")
        }
        let labels = (text.hasSuffix(".") ? text.dropLast() : text[...]).utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        let isOfHost = { (byte: UInt8) in isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") }
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isOfHost) }),
            let last = labels.last, last.count > 1, last.allSatisfy(isLetter)
        else { return }
        throw Parsing.Failure(
            "it explains names of the link, below local, and not of other domains ('discoverd host \(text)' asks for those); "
                + "a service whose name this is needs its type")
    }

    /// Asks what a word can be.
    static func census(of word: String) throws -> NameCensus {
        let types = [ServiceType.Transport.tcp, .udp].compactMap { ServiceType(identifier: word, transport: $0) }
        return NameCensus(usual: try usualService(word), types: types, host: try? QueryCommand.name(word))
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
        return try usual(word)
    }

    /// What a word is that no one has: a service of the usual type.
    static func usual(_ word: String) throws -> InquirySubject { .service(try usualService(word)) }

    /// Whether it is this machine's own name.
    static func isOwnHost(_ target: ExplainTarget) -> Bool {
        guard let label = Environment.hostLabel, let own = try? QueryCommand.name(label) else { return false }
        switch target {
        case .subject(let subject): return subject == .host(own)
        case .word(let word): return (try? QueryCommand.name(word)) == own
        }
    }

    private static func usualService(_ word: String) throws -> ServiceInstance {
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
