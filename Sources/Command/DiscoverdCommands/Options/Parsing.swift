#if Commands
internal import CommandFrame
internal import CommandText
internal import DNSSD

extension Parsing {
    /// Rejects a bad type to publish here, because a backend would just stay silent.
    static func type(_ text: String) throws -> ServiceType { try ofItsKind(text) { try ServiceType(named: text) } }

    /// A type to look for, which others may publish in breach of the rules.
    static func soughtType(_ text: String) throws -> ServiceType {
        try ofItsKind(text) { try ServiceType(sought: text) }
    }

    /// Of what is no type, says what it is instead.
    private static func ofItsKind(_ text: String, _ parse: () throws -> ServiceType) throws -> ServiceType {
        do {
            return try parse()
        } catch {
            try WordKind.requireType(text)
            throw error
        }
    }

    /// The name of a service to publish.
    static func name(_ text: String) throws -> ServiceName { try ServiceName(CommandLineArguments.unmarked(text)) }

    static func domain(_ text: String) throws -> Domain { try Domain(text) }

    /// A port to listen on; nil (given as 0) lets the system choose.
    static func optionalPort(_ text: String) throws -> Port? { text == "0" ? nil : try port(text) }

    static func hostName(_ text: String) throws -> HostName { try HostName(text) }

    static func address(_ text: String) throws -> IPAddress {
        guard let address = IPAddress(text) else {
            throw Failure("it must be an IPv4 or IPv6 address")
        }
        return address
    }

    /// The number of concurrent connections; each takes two threads.
    static func connections(_ text: String) throws -> Int {
        guard let count = Int(text), (1...1024).contains(count) else {
            throw Failure("it must be a whole number from 1 to 1024")
        }
        return count
    }

    /// A subtype's label, with or without its underscore (RFC 6763 §7.1).
    static func subtype(_ text: String) throws -> String {
        let subtype = try ServiceType.validatedSubtype(text)
        _ = try ServiceType(DefaultType.text).withSubtype(subtype).checkedForAvahi()
        return subtype
    }
}
#endif
