#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD

/// Which of the services found are wanted: by their names, and by what is known of them once they are resolved. A value.
struct ServiceFilter: Sendable {
    /// Only this very name.
    let name: ServiceName?
    private let names: [Glob]
    private let conditions: [Condition]
    /// Only those that this machine publishes, or only others'; nil for both.
    private let areOwn: Bool?
    /// The options that say so, for messages.
    let options: [String]

    static let everything = ServiceFilter(name: nil)

    init(exactly name: ServiceName) { self.init(name: name) }

    private init(name: ServiceName?) {
        (self.name, names, conditions, areOwn, options) = (name, [], [], nil, [])
    }

    /// - Throws: for a pattern or condition that means nothing.
    init(names: [String] = [], conditions: [String] = [], areOwn: Bool? = nil) throws(Parsing.Failure) {
        name = nil
        self.areOwn = areOwn
        options =
            names.map { "--name \($0.quotedForMessage)" } + conditions.map { "--where \($0.quotedForMessage)" }
            + (areOwn.map { [$0 ? "--mine" : "--others"] } ?? [])
        self.names = try names.map { name throws(Parsing.Failure) in try Self.glob(name.asciiLowercased, in: name) }
        self.conditions = try conditions.map { text throws(Parsing.Failure) in try Condition(text) }
    }

    var isEmpty: Bool { name == nil && !hasConditions }
    /// It has patterns or conditions.
    var hasConditions: Bool { !options.isEmpty }
    /// Only a resolved service can meet it.
    var needsResolution: Bool { !conditions.isEmpty || areOwn != nil }

    /// Whether its name matches one of the patterns, if there are any, and all conditions are met.
    func allows(_ service: DiscoveredService) -> Bool {
        if let name, service.instance.name != name { return false }
        if let areOwn, service.state != .resolved || service.isOwn != areOwn { return false }
        let name = service.instance.name.text.asciiLowercased
        return (names.isEmpty || names.contains { $0.matches(name) }) && conditions.allSatisfy { $0.isMet(by: service) }
    }

    fileprivate static func glob(_ pattern: String, in text: String) throws(Parsing.Failure) -> Glob {
        do {
            return try Glob(pattern)
        } catch {
            throw Parsing.Failure("\(error.rule) in \(text.quotedForMessage)")
        }
    }
}

/// The events of the services that a filter allows: one that begins to match is found then, and one that no longer matches, lost. A value.
struct FilteredEvents {
    private let filter: ServiceFilter
    /// The services reported as found; no more than the stream reports as present.
    private var shown: Set<ServiceInstance> = []
    /// Those that are there and not allowed.
    private var rejected: Set<ServiceInstance> = []
    /// How many these are.
    var others: Int { rejected.count }

    init(_ filter: ServiceFilter) { self.filter = filter }

    /// - Returns: what the event means to a reader that sees only the services allowed; nil if nothing.
    mutating func event(_ event: ServiceEvent) -> ServiceEvent? {
        switch event {
        case _ where filter.isEmpty: return event
        case .found(let service), .changed(let service):
            guard filter.allows(service) else {
                rejected.insert(service.instance)
                return shown.remove(service.instance) == nil ? nil : .lost(service)
            }
            rejected.remove(service.instance)
            return shown.insert(service.instance).inserted ? .found(service) : .changed(service)
        case .lost(let service):
            rejected.remove(service.instance)
            return shown.remove(service.instance) == nil ? nil : event
        case .settled, .backend, .degraded: return event
        }
    }
}

/// `txt.path=/x*`: a field, and a shell pattern that it matches, or with `!=` does not. A key of TXT alone: it is there.
private struct Condition: Sendable {
    private let field: Field
    private let pattern: Glob?
    private let isNegated: Bool

    private enum Field {
        /// TXT keys are compared without regard to case (RFC 6763 §6.4), their values with.
        case txt(String)
        case host, port, address
    }

    init(_ text: String) throws(Parsing.Failure) {
        let name = text.prefix { $0 != "=" }
        let isNegated = name.hasSuffix("!") && name.count < text.count
        field = try Self.field(String(isNegated ? name.dropLast() : name), in: text)
        self.isNegated = isNegated
        guard name.count < text.count else {
            guard case .txt = field else { throw Self.malformed(text) }
            pattern = nil
            return
        }
        let value = String(text.dropFirst(name.count + 1))
        if case .txt = field {
            pattern = try ServiceFilter.glob(value, in: text)
        } else {
            pattern = try ServiceFilter.glob(value.asciiLowercased, in: text)
        }
    }

    private static func field(_ name: String, in text: String) throws(Parsing.Failure) -> Field {
        switch name.asciiLowercased {
        case "host": return .host
        case "port": return .port
        case "address": return .address
        case let key where key.hasPrefix("txt.") && key.utf8.count > 4: return .txt(String(key.dropFirst(4)))
        default: throw malformed(text)
        }
    }

    private static func malformed(_ text: String) -> Parsing.Failure {
        Parsing.Failure(
            "it must be txt.KEY, txt.KEY=PATTERN, host=PATTERN, port=PATTERN or address=PATTERN, with != for not: "
                + text.quotedForMessage)
    }

    func isMet(by service: DiscoveredService) -> Bool {
        // What is not known yet meets nothing, not even a negation.
        guard service.state == .resolved else { return false }
        guard let pattern else {
            guard case .txt(let key) = field else { return false }
            return service.txt.contains(key)
        }
        return values(of: service).contains { pattern.matches($0) } != isNegated
    }

    private func values(of service: DiscoveredService) -> [String] {
        switch field {
        case .txt(let key): service.txt.text(for: key).map { [$0] } ?? []
        case .host: service.host.map { [$0.description.asciiLowercased] } ?? []
        case .port: service.port.map { [String($0.rawValue)] } ?? []
        case .address: service.endpoints.map { "\($0.address)".asciiLowercased }
        }
    }
}

extension String {
    /// With the ASCII letters in lower case: DNS compares no others without regard to case (RFC 4343).
    fileprivate var asciiLowercased: String {
        String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

/// Which of the services found to show.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Only services whose name matches a shell pattern: 'pr*'. Repeatable.", valueName: "pattern")
    )
    var name: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only services that match: txt.path, 'txt.path=/x*', 'host=nas*', port!=80, 'address=10.*'. Repeatable: all match.",
            valueName: "condition"))
    var `where`: [String] = []

    @Flag(name: .long, help: "Only services that this machine publishes.")
    var mine = false

    @Flag(name: .long, help: "Only services of other machines.")
    var others = false

    func validate() throws {
        if mine && others { throw ValidationError("--mine and --others exclude each other.") }
        if name.count + self.where.count > Self.limit { throw ValidationError("More than \(Self.limit) conditions.") }
        try Parsing.validate { _ = try filter() }
    }

    /// - Throws: what `validate` throws.
    func filter() throws -> ServiceFilter {
        try ServiceFilter(names: name, conditions: self.where, areOwn: mine ? true : others ? false : nil)
    }

    /// Each is looked at for every event of every service.
    private static let limit = 64
}
#endif
