/// A version of the JSON that commands print and the daemon answers. What is written is written once, as version 1 has it; version 2 is a
/// rendering of that value (docs/decisions/0087-json-version-2.md).
package enum JSONVersion: Int, Hashable, Sendable {
    case one = 1
    case two = 2

    /// What a value of version 1 is about, where it has no `event` that says so.
    package enum Subject: Hashable, Sendable {
        /// Its `event` says it.
        case event
        /// A service that was found.
        case service
        /// A service that is published, or is to be.
        case publication
        /// A service that is published no more, and is not tried again.
        case ended
        /// What was answered for a name or an address: a line for each address of a host, which is one line in version 2.
        case hosts
        /// What `doctor` looked at.
        case check
        /// How the daemon is.
        case status
    }

    /// A line that `body` writes in version 1.
    package func line(_ subject: Subject = .event, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        body(&writer)
        return rendered(writer.bytes, as: subject)
    }

    /// A line of version 1 in this version; of hosts one or more.
    package func rendered(_ line: [UInt8], as subject: Subject = .event) -> [UInt8] {
        guard self == .two else { return line }
        if subject == .hosts {
            let lines = line.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONReader.read(Array($0)) }
            return Version2.hosts(lines).flatMap(\.bytes)
        }
        guard let value = try? JSONReader.read(line) else {
            return JSONError(code: "internal", message: "a line could not be read").line
        }
        return Version2.line(value, about: subject).bytes
    }

    /// Whole lines of version 1 in this version.
    package func rendered(lines: some Collection<UInt8>) -> [UInt8] {
        guard self == .two else { return Array(lines) }
        return lines.split(separator: UInt8(ascii: "\n")).flatMap { rendered(Array($0)) }
    }
}

/// Why something failed, in version 2: of a command with its exit status, of an answer of the daemon with its HTTP status. A value.
package struct JSONError: Hashable, Sendable {
    /// A stable name for programs.
    package var code: String
    /// The exit status, or the HTTP status.
    package var status: Int?
    /// A sentence for people.
    package var message: String
    /// What can be done, a sentence each.
    package var advice: [String] = []

    package init(code: String, status: Int? = nil, message: String, advice: [String] = []) {
        (self.code, self.status, self.message, self.advice) = (code, status, message, advice)
    }

    /// The line that ends what a command prints.
    package var line: [UInt8] { Version2.envelope("error", [.init("error", value)]).bytes }

    var value: JSONValue {
        var members: [JSONValue.Member] = [.init("code", .string(code))]
        if let status { members.append(.init("status", .integer(status))) }
        members.append(.init("message", .string(message)))
        if !advice.isEmpty { members.append(.init("advice", .array(advice.map { .string($0) }))) }
        return .object(members)
    }
}

extension JSONValue {
    /// The value and a line end.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        writer.endLine()
        return writer.bytes
    }
}
