#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

/// What a word of the command line is, as its form tells: an underscore makes a type, `.local` or an address a host, and all else is a name.
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

    /// Refuses at once a word that names no service, and says which command is meant.
    /// - Parameters:
    ///   - command: what is done with services, as "resolve shows".
    ///   - takesHosts: a host is as good.
    static func requireService(_ text: String, for command: String, takesHosts: Bool = false) throws {
        guard let refusal = refusal(of: text, command, takesHosts: takesHosts) else { return }
        throw ValidationError(refusal)
    }

    /// Refuses at once a word that names no type.
    static func requireType(_ text: String) throws {
        switch WordKind(text) {
        case .type, .name: return
        case .fullName:
            throw Parsing.Failure("it is a service's name: 'discoverd resolve' shows it")
        case .host, .address:
            throw Parsing.Failure("it is \(noun(text)): 'discoverd host \(text.escapedForTerminal)' looks it up")
        }
    }

    private static func refusal(of text: String, _ command: String, takesHosts: Bool) -> String? {
        let word = text.quotedForMessage
        switch WordKind(text) {
        case .name, .fullName: return nil
        case .type(let type):
            return "\(word) is a type, and \(command) a service: 'discoverd browse \(type) -t' lists those of it."
        case .host where takesHosts: return nil
        case .host, .address:
            return
                "\(word) is \(noun(text)), and \(command) a service by its name: 'discoverd browse --all -t' lists services, "
                + "'discoverd host \(text.escapedForTerminal)' looks it up."
        }
    }

    private static func noun(_ text: String) -> String { WordKind(text) == .address ? "an address" : "a host" }
}
#endif
