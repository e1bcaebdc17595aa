/// The reason that bytes are not a DNS message, or that a message cannot be written.
public enum MessageError: Error, Hashable, Sendable {
    /// The bytes end within a field, or before the last record that the header counts.
    case truncated
    /// The message is longer than the limit, or does not fit into it.
    case tooLong
    /// A label's length byte begins with the bits 01 or 10, which no standard uses (RFC 6891 §5).
    case reservedLabel
    /// A compression pointer does not point backwards, or a name has too many of them (RFC 1035 §4.1.4).
    case badPointer
    /// A label is empty or longer than 63 bytes, or a name is longer than 255 (RFC 1035 §2.3.4).
    case invalidName
    /// A field is too long for the wire: a string over 255 bytes, or data over 65 535.
    case oversizedField
    /// There is more than one OPT record (RFC 6891 §6.1.1).
    case repeatedOPT
    /// A TSIG record is not the last record, or is malformed (RFC 8945 §5.1).
    case misplacedTSIG
}
