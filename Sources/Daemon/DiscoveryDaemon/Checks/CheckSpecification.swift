public import DNSSD
package import DiscoveryControl
internal import DiscoverySystem

/// What is to work for a service to be advertised, and how often that is looked at.
public struct CheckSpecification: Hashable, Sendable {
    /// What is looked at.
    public enum Kind: Hashable, Sendable {
        /// A connection to the service's port on this machine.
        case tcp
        /// An HTTP/1.1 GET of this path at the service's port on this machine; 2xx and 3xx pass.
        case http(path: String)
        /// A program with its arguments, started without a shell; status 0 passes.
        case exec(command: [String])
        /// A systemd unit that is active.
        case unit(String)
        /// A process that runs.
        case pid(Int32)
    }

    /// How often a check may be made.
    public static let intervals: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)
    /// How long one check may take.
    public static let timeouts: ClosedRange<Duration> = .milliseconds(50) ... .seconds(300)
    /// How many results in a row may be asked for.
    public static let counts = 1...100

    /// What is looked at.
    public let kind: Kind
    /// From the start of one check to the start of the next.
    public let interval: Duration
    /// After this one check has failed.
    public let timeout: Duration
    /// Passes in a row after which a failing service is advertised again.
    public let rise: Int
    /// Failures in a row after which a service is withdrawn.
    public let fall: Int

    /// Creates a specification from checked parts.
    /// - Throws: `.invalidCheck` for a value outside of its range, or a kind with a path, command, unit or process that
    ///   cannot be.
    public init(
        _ kind: Kind, interval: Duration = .seconds(10), timeout: Duration = .seconds(2), rise: Int = 2, fall: Int = 3
    ) throws(DiscoveryError) {
        try Self.validate(kind)
        try Self.validate(interval, in: Self.intervals, named: "interval")
        try Self.validate(timeout, in: Self.timeouts, named: "timeout")
        try Self.validate(rise, in: Self.counts, named: "rise")
        try Self.validate(fall, in: Self.counts, named: "fall")
        self.kind = kind
        self.interval = interval
        self.timeout = timeout
        self.rise = rise
        self.fall = fall
    }

    private static func validate<Value: Comparable>(
        _ value: Value, in range: ClosedRange<Value>, named name: String
    ) throws(DiscoveryError) {
        guard range.contains(value) else {
            throw DiscoveryError(
                .invalidCheck, "the check's \(name) \(value) is not in \(range.lowerBound) to \(range.upperBound)")
        }
    }
}

extension CheckSpecification {
    /// What a client asked for, with the daemon's defaults for what it left out.
    package init(_ check: RegistrationRequest.Check) throws(DiscoveryError) {
        try self.init(
            check.text,
            interval: .milliseconds(check.intervalMilliseconds ?? 10_000),
            timeout: .milliseconds(check.timeoutMilliseconds ?? 2000),
            rise: check.rise ?? 2,
            fall: check.fall ?? 3
        )
    }
}

extension RegistrationRequest.Check {
    /// The same as text and numbers.
    package init(_ specification: CheckSpecification) {
        self.init(specification.description)
        intervalMilliseconds = specification.interval.wholeMilliseconds
        timeoutMilliseconds = specification.timeout.wholeMilliseconds
        rise = specification.rise
        fall = specification.fall
    }
}

extension CheckSpecification {
    /// Reads `tcp`, `http:/path`, `exec:PROGRAM ARG…` (`QuotedWords`), `unit:NAME.service` or `pid:123`.
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
        byte.isASCIIAlphanumeric || ":-_.\\@".utf8.contains(byte)
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
        case ("exec", let command?): self = .exec(command: try QuotedWords.split(command))
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
        case .exec(let command): "exec:\(QuotedWords.join(command))"
        case .unit(let name): "unit:\(name)"
        case .pid(let number): "pid:\(number)"
        }
    }
}

/// A command and its arguments as one text: words between spaces; in double quotes, what has a space in it, with a backslash
/// before a quote or a backslash. No shell: nothing else means anything.
enum QuotedWords {
    /// - Throws: `.invalidCheck` for a quote that is not closed.
    static func split(_ text: String) throws(DiscoveryError) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped || (isQuoted && scalar != "\"" && scalar != "\\") {
                word = (word ?? .init()) + [scalar]
                isEscaped = false
            } else if isQuoted && scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
                word = word ?? .init()
            } else if scalar == " " {
                if let word { words.append(String(word)) }
                word = nil
            } else {
                word = (word ?? .init()) + [scalar]
            }
        }
        guard !isQuoted else {
            throw DiscoveryError(.invalidCheck, "\(text.quotedForMessage): a quote is not closed")
        }
        if let word { words.append(String(word)) }
        return words
    }

    /// The text that is split into these words, and into no others.
    static func join(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    private static func quoted(_ word: String) -> String {
        guard word.isEmpty || word.unicodeScalars.contains(where: { $0 == " " || $0 == "\"" }) else { return word }
        var text = "\"".unicodeScalars
        for scalar in word.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.append("\\") }
            text.append(scalar)
        }
        text.append("\"")
        return String(text)
    }
}
