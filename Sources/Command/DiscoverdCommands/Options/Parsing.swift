#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import CommandText
internal import DNSSD
internal import PeerIdentity

extension Parsing {
    /// Rejects a bad type to publish here, because a backend would just stay silent.
    static func type(_ text: String) throws -> ServiceType { try ofItsKind(text) { try ServiceType(named: text) } }

    /// A type to look for, which others may publish in breach of the rules.
    static func soughtType(_ text: String) throws -> ServiceType {
        try ofItsKind(text) { try ServiceType(sought: text) }
    }

    /// The same of a word beside a name, where the parser does not say which word is wrong.
    static func typeBeside(_ word: String) throws -> ServiceType {
        do { return try soughtType(word) } catch {
            throw ValidationError("The type \(word.quotedForMessage): \(error)")
        }
    }

    /// Of what is no type, says what it is instead.
    private static func ofItsKind(_ text: String, _ parse: () throws -> ServiceType) throws -> ServiceType {
        do {
            return try parse()
        } catch {
            if Double(text) != nil {
                throw Failure(
                    "it is a number, and no type: a service says its port itself, and a time follows --timeout")
            }
            try WordKind.requireType(text)
            throw error
        }
    }

    /// The name of a service to publish.
    static func name(_ text: String) throws -> ServiceName { try ServiceName(CommandLineArguments.unmarked(text)) }

    static func domain(_ text: String) throws -> Domain { try Domain(text) }

    /// A port to listen on; nil (given as 0) lets the system choose.
    static func optionalPort(_ text: String) throws -> Port? { text == "0" ? nil : try port(text) }

    static func hostName(_ text: String) throws -> HostName {
        if IPAddress(text) != nil {
            throw Failure("it is an address, and a host has a name: --host printer.local --address \(text)")
        }
        return try HostName(text)
    }

    /// The rules of a zone are looked at once its domain is known.
    static func alias(_ text: String) throws -> String {
        _ = try HostName(text)
        return text
    }

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

    static func key(_ text: String) throws -> KeyFingerprint {
        guard let key = KeyFingerprint(text) else {
            throw ValidationError("'\(text)' is no key: SHA256: and 43 characters, as 'discoverd key show' prints.")
        }
        return key
    }

    static func trust(_ text: String) throws -> TrustWord {
        do throws(TrustWord.Failure) { return try TrustWord(text) } catch { throw ValidationError("\(error).") }
    }

    /// A subtype's label, with or without its underscore (RFC 6763 §7.1).
    static func subtype(_ text: String) throws -> String {
        let subtype = try ServiceType.validatedSubtype(text)
        _ = try ServiceType(DefaultType.text).withSubtype(subtype).checkedForAvahi()
        return subtype
    }
}

/// A type that the command line names.
struct TypeWord: Sendable {
    /// As the command line has it.
    let text: String
    let type: ServiceType
    /// What to say where its form is not a type's, as of `witap`; nil for one that is.
    let hint: String?

    init(_ text: String) throws {
        (self.text, type) = (text, try Parsing.soughtType(text))
        hint = text.hasPrefix("_") ? nil : "\(text.quotedForMessage) is understood as the type \(type.description)"
    }
}

extension ServiceType {
    /// Refuses a type of services that nothing connects to.
    func requireConnections(for command: String) throws {
        if transport != .tcp {
            throw ValidationError("\(command) is for TCP; a service of type _udp has no connections.")
        }
    }
}

/// What a word of the command line is, by its form: an underscore makes a type, `.local` or an address a host; anything else is a name.
enum WordKind: Equatable {
    case type(ServiceType)
    case address
    case host
    case fullName
    case name

    init(_ text: String) {
        let type =
            (try? ServiceType(named: text)) ?? ServiceType(observed: text)
            ?? (try? ServiceType(named: String(text.dropFirst())))
        if text.hasPrefix("_"), let type {
            self = .type(type)
        } else if IPAddress(String(text.prefix { $0 != "%" })) != nil {
            self = .address
        } else if ServiceInstance.looksLikeFullName(text) {
            self = .fullName
        } else {
            self = (try? HostArgument(text))?.isBelowLocal == true ? .host : .name
        }
    }

    /// Refuses a word that names no service, and names the command for it.
    /// - Parameter command: what is done with services, as "resolve shows".
    /// - Parameter list: lists the services, where it is not `browse`.
    static func requireService(_ text: String, for command: String, listedBy list: String? = nil) throws {
        guard let refusal = refusal(of: text, command, list) else { return }
        throw ValidationError(refusal)
    }

    /// Refuses a word that is probably not the name of a service to publish; one whose type is said, or that follows `--`, may have any.
    static func requireNewName(_ text: String, for command: String) throws {
        guard text == CommandLineArguments.unmarked(text) else { return }
        let word = text.quotedForMessage
        func use(_ name: String, _ type: ServiceType) -> String {
            "'discoverd \(command) \(name.escapedForTerminal) PORT --type \(type)'"
        }
        switch WordKind(text) {
        case .name: return
        case .host:
            throw ValidationError(
                "\(word) is a host, and a service has a name of its own: 'discoverd \(command) NAME PORT'. With --type a service may "
                    + "be called so.")
        case .type(let type):
            throw ValidationError("\(word) is a type, and the service has no name: \(use("NAME", type)).")
        case .fullName:
            // A dot within its name may not be written as one.
            guard let service = try? ServiceInstance(fullName: text) else {
                throw ValidationError("\(word) is a full name: 'discoverd \(command) NAME PORT --type TYPE'.")
            }
            throw ValidationError("\(word) is a full name: \(use(service.name.text, service.type)).")
        case .address: throw ValidationError("\(word) is an address: with --type a service may be called so.")
        }
    }

    /// Refuses at once a word that names no type.
    static func requireType(_ text: String) throws {
        switch WordKind(text) {
        case .type, .name: return
        case .fullName:
            throw Parsing.Failure("it is a service's name: 'discoverd resolve' shows it")
        case .host, .address:
            throw Parsing.Failure("it is \(noun(text)): 'discoverd resolve \(text.escapedForTerminal)' looks it up")
        }
    }

    private static func refusal(of text: String, _ command: String, _ list: String?) -> String? {
        let word = text.quotedForMessage
        let lists = { (browse: String) in list.map { "'discoverd \($0)' lists them" } ?? browse }
        switch WordKind(text) {
        case .name, .fullName: return nil
        case .type(let type):
            return
                "\(word) is a type, and \(command) a service: \(lists("'discoverd browse \(type) -t' lists those of it"))."
        case .host, .address:
            return
                "\(word) is \(noun(text)), and \(command) a service by its name: \(lists("'discoverd browse --all -t' lists services")), "
                + "'discoverd resolve \(text.escapedForTerminal)' looks it up."
        }
    }

    private static func noun(_ text: String) -> String { WordKind(text) == .address ? "an address" : "a host" }
}
#endif
