package import DNSMessage

/// A name and a type: the subject of a question, and the key of cached answers.
package struct RecordKey: Hashable, Sendable {
    package let name: DomainName
    package let type: RecordType

    package init(_ name: DomainName, _ type: RecordType) {
        self.name = name
        self.type = type
    }
}

extension RecordType {
    /// Types 128 to 255 are for questions and signatures, and never cached (RFC 6895 §3.1); OPT belongs to its message.
    var isData: Bool { rawValue != 0 && !(128...255 ~= rawValue) && self != .opt }

    /// Several hosts answer for one name, each with its own records: the cache-flush bit has no meaning (RFC 6762
    /// §10.2).
    var isShared: Bool { self == .ptr }
}
