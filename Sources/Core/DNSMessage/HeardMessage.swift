/// What could be read of a message of multicast DNS: records up to the first fault.
///
/// Small stacks cut their messages, or count more records than they send. What was whole is as good as before; what is missing is not known, so
/// such a message adds and prolongs records, and neither flushes nor ends any.
package struct HeardMessage: Hashable, Sendable {
    /// What was read; with a fault, without goodbyes and cache-flush bits.
    package private(set) var message = Message()
    /// Why reading ended before the last record; nil if all was read.
    package private(set) var fault: MessageError?

    /// Reads a message. OPT records that cannot be read, and all after the first, stay records of bytes.
    ///
    /// Nil where not even the header is whole, and for a query with a fault: its questions may be answered by what was cut off.
    package init?(_ bytes: [UInt8]) {
        guard 12...Message.maximumLength ~= bytes.count else { return nil }
        do throws(MessageError) {
            try message.read(bytes, .incidental)
        } catch {
            guard message.flags.contains(.response) else { return nil }
            fault = error
            message.answers = Self.additions(message.answers)
            message.authorities = Self.additions(message.authorities)
            message.additionals = Self.additions(message.additionals)
        }
    }

    /// The records that end nothing. A TTL with its top bit set is zero (RFC 2181 §8).
    private static func additions(_ records: [ResourceRecord]) -> [ResourceRecord] {
        records.filter { $0.ttl > 0 && $0.ttl >> 31 == 0 }.map {
            var record = $0
            record.flushesCache = false
            return record
        }
    }
}
