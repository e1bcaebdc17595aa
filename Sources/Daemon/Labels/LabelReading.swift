internal import DNSSD
internal import Discovery
package import DiscoveryControl
package import DiscoveryDaemon

/// What labels want published, as far as they may, and what is wrong with the others. A value: labels are anybody's text.
package struct LabelReading: Hashable, Sendable {
    /// A service at most, then aliases.
    package private(set) var requests: [RegistrationRequest] = []
    /// A sentence each, safe for a terminal.
    package private(set) var problems: [String] = []

    /// The longest value that is read, in bytes.
    private static let longestValue = 1024
    private static let maximumAliases = 16
    /// Sentences of one container.
    private static let maximumProblems = 8

    package init(_ subject: Labelled, _ grants: LabelGrants) {
        if let problem = subject.problem {
            problems = [problem]
            return
        }
        var service = LabelledService()
        var aliases: [String] = []
        for (key, value) in subject.labels {
            guard value.utf8.count <= Self.longestValue else {
                note("\(subject.shown(key)) is longer than \(Self.longestValue) bytes")
                service.isWrong = true
                continue
            }
            switch key {
            case "alias": aliases += Self.list(value)
            case "publish": service.type = value
            case "name": service.name = value
            case "port": service.port = value
            // A container has checks of its own, and a label of an image must not have the daemon send requests.
            case "check" where subject.isUnit: service.check = value
            case let key where key.hasPrefix("txt."):
                do throws(DiscoveryError) {
                    try service.txt.append(key: String(key.dropFirst(4)), text: value)
                } catch {
                    note("\(subject.shown(key)): \(error.message)")
                    service.isWrong = true
                }
            default:
                note("\(subject.shown(key)) is no label: there are \(subject.keys)")
                service.isWrong = true
            }
        }
        read(service, of: subject, grants)
        var known: Set<HostName> = []
        for text in (aliases + subject.rules.flatMap(TraefikRule.hosts)).prefix(Self.maximumAliases) {
            read(alias: text, grants, &known)
        }
        problems = Array(problems.prefix(Self.maximumProblems))
    }

    private mutating func note(_ problem: String) { problems.append(problem) }

    private static func list(_ value: String) -> [String] {
        value.split(separator: ",").prefix(maximumAliases + 1).map { String($0.trimmed) }
    }

    private mutating func read(_ labels: LabelledService, of subject: Labelled, _ grants: LabelGrants) {
        guard labels.type != nil else {
            if labels.isMeant { note("there is no \(subject.shown("publish")), which says the type") }
            return
        }
        do throws(DiscoveryError) {
            let service = try labels.service(of: subject, grants)
            let request = RegistrationRequest(service, check: try labels.checked())
            if !labels.isWrong { requests.append(request) }
        } catch {
            note(error.message)
        }
    }

    private mutating func read(alias text: String, _ grants: LabelGrants, _ known: inout Set<HostName>) {
        do throws(DiscoveryError) {
            let alias = try OfferedAlias(text)
            guard known.insert(alias.name).inserted else { return }
            guard grants.aliases.contains(alias.name) else {
                throw LabelledService.denied("the alias \(alias.name)", "aliases: [\(alias.name)]")
            }
            requests.append(RegistrationRequest(try OfferedService(alias: alias), onConflict: .fail))
        } catch {
            note(error.message)
        }
    }
}

/// The labels of a service as they are written.
private struct LabelledService {
    var type: String?
    var name: String?
    var port: String?
    var check: String?
    var txt = TXTRecord()
    /// One of them is wrong.
    var isWrong = false

    /// Something is said of a service.
    var isMeant: Bool { name != nil || port != nil || check != nil || !txt.isEmpty }

    static func denied(_ what: String, _ rule: String) -> DiscoveryError {
        DiscoveryError(
            .notPermitted,
            "labels may not publish \(what); `labels: {\(rule)}` under `access:` in discoverd.yaml permits it")
    }

    func service(of subject: Labelled, _ grants: LabelGrants) throws(DiscoveryError) -> OfferedService {
        let type = try ServiceType(named: self.type ?? "").checkedForAvahi()
        guard grants.types?.contains(type.base) ?? true else {
            throw Self.denied("\(type.base)", "types: [\(type.base)]")
        }
        guard self.name != nil || subject.nameLength <= ServiceName.maximumLength else {
            throw DiscoveryError(
                .invalidServiceName,
                "its own name has \(subject.nameLength) bytes, at most \(ServiceName.maximumLength) are allowed")
        }
        let name = try ServiceName(self.name ?? subject.name)
        let isOwn = name == ServiceName(observed: subject.name)
        guard grants.names?.allows(name) ?? isOwn else {
            throw Self.denied("the name \(name.text.quotedForMessage)", "names: [\(name.text.quotedForMessage)]")
        }
        guard txt.wireSize <= TXTRecord.recommendedWireSize else {
            throw DiscoveryError(
                .invalidTXTRecord, "the TXT record is longer than \(TXTRecord.recommendedWireSize) bytes")
        }
        let port = try port(of: subject, type.transport == .tcp ? "tcp" : "udp")
        var service = OfferedService(name: name, type: type, port: port, txt: txt)
        service.subtypes = type.subtype.map { [$0] } ?? []
        return service
    }

    /// The one that is said, where it is its own; or the only one that is published.
    private func port(of subject: Labelled, _ transport: String) throws(DiscoveryError) -> Port {
        let said: Int?
        if let text = self.port {
            guard text.first != "+", let number = Int(text), 1...65_535 ~= number else {
                throw DiscoveryError(.invalidPort, "the port \(text.quotedForMessage) is no number from 1 to 65535")
            }
            said = number
        } else {
            said = nil
        }
        switch subject.ports {
        case .any:
            guard let said else {
                throw DiscoveryError(
                    .invalidPort, "the port is missing: in this machine's network a label has to say it")
            }
            return try Port(said)
        case .published(let all):
            let own = Set(all.filter { $0.transport == transport && $0.isOpen }.map(\.host)).sorted()
            let list = own.isEmpty ? "none" : own.prefix(8).map(String.init).joined(separator: ", ")
            if let said {
                guard own.contains(said) else {
                    throw DiscoveryError(
                        .invalidPort,
                        "\(said) is no port of this machine that leads to it for others; these do: \(list)")
                }
                return try Port(said)
            }
            guard own.count == 1, let only = own.first else {
                throw DiscoveryError(
                    .invalidPort,
                    "which \(transport.uppercased()) port of this machine leads to it is not clear; these do: \(list)")
            }
            return try Port(only)
        }
    }

    func checked() throws(DiscoveryError) -> RegistrationRequest.Check? {
        guard let check else { return nil }
        let request = RegistrationRequest.Check(check)
        // All others run or name something of this machine with the daemon's rights.
        guard request.looksAtThisMachine else {
            throw DiscoveryError(.invalidCheck, "the check of a label is tcp or http:/PATH")
        }
        _ = try CheckSpecification(request)
        return request
    }
}

/// The rule of a router of Traefik: ``Host(`wiki.local`) && PathPrefix(`/x`)``.
package enum TraefikRule {
    private static let longest = 2048

    /// The names below `local` in it that a request must have; a regular expression names none.
    package static func hosts(_ rule: String) -> [String] {
        guard rule.utf8.count <= longest else { return [] }
        var hosts: [String] = []
        var rest = Array(rule.utf8)[...]
        var before: UInt8?
        while let byte = rest.first {
            defer { before = byte }
            guard rest.starts(with: "Host(".utf8), before?.isASCIIAlphanumeric != true, before != UInt8(ascii: "!")
            else {
                rest = rest.dropFirst()
                continue
            }
            let inside = rest.dropFirst(5).prefix { $0 != UInt8(ascii: ")") }
            for part in inside.split(separator: UInt8(ascii: ",")) {
                let text = String(decoding: part, as: UTF8.self).trimmed
                guard let quote = text.first, quote == "`" || quote == "\"", text.last == quote, text.count > 2 else {
                    continue
                }
                let name = text.dropFirst().dropLast().lowercased()
                if name.hasSuffix(".local") { hosts.append(name) }
            }
            rest = rest.dropFirst(5 + inside.count)
        }
        return hosts
    }
}

extension StringProtocol {
    /// Without blanks at both ends.
    var trimmed: SubSequence {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.prefix(start.count - start.reversed().prefix { $0 == " " || $0 == "\t" }.count)
    }
}
