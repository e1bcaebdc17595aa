public import DNSSD

extension CheckSpecification {
    /// Reads `tcp`, `http:/path`, `exec:PROGRAM ARG…` (`CommandWords`), `unit:NAME.service` or `pid:123`.
    /// - Throws: `.invalidCheck` with the rule that was broken.
    public init(
        _ text: String, interval: Duration = .seconds(10), timeout: Duration = .seconds(2), rise: Int = 2, fall: Int = 3
    ) throws(DiscoveryError) {
        try self.init(try Kind(text), interval: interval, timeout: timeout, rise: rise, fall: fall)
    }

    /// The longest path, command or unit name in bytes.
    static let maximumTextLength = 4096

    static func validate(_ kind: Kind) throws(DiscoveryError) {
        switch kind {
        case .tcp: break
        case .http(let path):
            try check(path, path.hasPrefix("/"), "the path of an HTTP check begins with a slash")
            try check(path, path.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "a path has no spaces, controls or non-ASCII")
        case .exec(let command):
            let program = command.first ?? ""
            try check(program, !program.isEmpty, "write exec:PROGRAM ARGUMENT…")
            for part in command { try check(part, !part.utf8.contains(0), "a command has no NUL") }
            let length = command.reduce(0) { $0 + $1.utf8.count + 1 }
            try check(program, length <= maximumTextLength, "the command is longer than \(maximumTextLength) bytes")
        case .unit(let name):
            let isName = !name.hasPrefix("-") && name.utf8.count <= 255 && name.utf8.allSatisfy(isUnitCharacter)
            try check(name, isName && name.contains("."), "write a unit's full name, as web.service")
        case .pid(let number):
            try check("\(number)", number > 0, "a process has a positive number")
        }
    }

    private static func check(_ text: String, _ holds: Bool, _ rule: String) throws(DiscoveryError) {
        guard text.utf8.count <= maximumTextLength else {
            let length = text.utf8.count
            throw DiscoveryError(
                .invalidCheck,
                "\(text.quotedForMessage): it has \(length) bytes, at most \(maximumTextLength) are allowed")
        }
        guard holds else { throw DiscoveryError(.invalidCheck, "\(text.quotedForMessage): \(rule)") }
    }

    /// systemd.unit(5): letters, digits, and `:-_.\@`.
    private static func isUnitCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x40...0x5A, 0x5C, 0x5F, 0x61...0x7A, 0x2D, 0x2E: true
        default: false
        }
    }
}

extension CheckSpecification.Kind {
    /// Reads what `CheckSpecification(_:)` reads.
    package init(_ text: String) throws(DiscoveryError) {
        let colon = text.unicodeScalars.firstIndex(of: ":")
        let word = String(text.unicodeScalars[..<(colon ?? text.endIndex)])
        let rest = colon.map { String(text.unicodeScalars[text.unicodeScalars.index(after: $0)...]) }
        switch (word, rest) {
        case ("tcp", nil): self = .tcp
        case ("http", let path?): self = .http(path: path)
        case ("exec", let command?): self = .exec(command: try CommandWords.split(command))
        case ("unit", let name?): self = .unit(name)
        case ("pid", let number?):
            guard let number = Int32(number) else {
                throw DiscoveryError(.invalidCheck, "\(text.quotedForMessage): write pid:NUMBER")
            }
            self = .pid(number)
        default:
            throw DiscoveryError(
                .invalidCheck,
                "\(text.quotedForMessage): a check is tcp, http:/PATH, exec:COMMAND, unit:NAME.service or pid:NUMBER")
        }
    }
}

extension CheckSpecification: CustomStringConvertible {
    /// `http:/health`; as it is read.
    public var description: String {
        switch kind {
        case .tcp: "tcp"
        case .http(let path): "http:\(path)"
        case .exec(let command): "exec:\(CommandWords.join(command))"
        case .unit(let name): "unit:\(name)"
        case .pid(let number): "pid:\(number)"
        }
    }
}
