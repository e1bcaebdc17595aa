package import DNSMessage

/// Whose records of which type: what a question asks for, and what an answer is kept under.
package struct RecordKey: Hashable, Sendable {
    package let name: DomainName
    package let type: RecordType

    package init(_ name: DomainName, _ type: RecordType) {
        self.name = name
        self.type = type
    }
}

extension RecordType {
    /// Types 128 to 255 are questions and signatures, never data to keep (RFC 6895 §3.1); OPT belongs to its message.
    var isData: Bool { rawValue != 0 && !(128...255 ~= rawValue) && self != .opt }

    /// Several hosts answer for one name, each with records of its own: the cache-flush bit means nothing here (RFC 6762 §10.2).
    var isShared: Bool { self == .ptr }
}
