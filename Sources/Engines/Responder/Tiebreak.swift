package import DNSMessage

/// Who of two hosts that probe for a name at the same time may have it (RFC 6762 §8.2).
package enum Tiebreak: Hashable, Sendable {
    /// The other one gives way.
    case won
    /// We do.
    case lost
    /// Both propose the same: there is no conflict.
    case equal

    /// Compares what both propose for a name, each list in order (RFC 6762 §8.2.1).
    package init(ours: [ResourceRecord], theirs: [ResourceRecord]) {
        let (ours, theirs) = (Self.ordered(ours), Self.ordered(theirs))
        if ours == theirs {
            self = .equal
        } else {
            self = theirs.lexicographicallyPrecedes(ours) { $0.lexicographicallyPrecedes($1) } ? .won : .lost
        }
    }

    /// Class, type and data of each record: numbers with the most significant byte first, as the data has them.
    private static func ordered(_ records: [ResourceRecord]) -> [[UInt8]] {
        records.map { record in
            [record.recordClass.rawValue, record.type.rawValue].flatMap(\.bytes) + record.data.uncompressed
        }
        .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension UInt16 {
    fileprivate var bytes: [UInt8] { [UInt8(self >> 8), UInt8(truncatingIfNeeded: self)] }
}
