/// Why bytes are no DNS message, or a message cannot be written.
public enum MessageError: Error, Hashable, Sendable {
    /// The bytes end within a field, or before the last record that the header counts.
    case truncated
    /// More bytes than the reader was asked to take.
    case tooLong
    /// A label's length byte begins with the bits 01 or 10, which no standard uses (RFC 6891 §5).
    case reservedLabel
    /// A compression pointer that does not point to an earlier place of the message, or one too many (RFC 1035 §4.1.4).
    case badPointer
    /// A label that is empty or longer than 63 bytes, or a name longer than 255 (RFC 1035 §2.3.4).
    case invalidName
    /// A field does not fit in its place on the wire: a string over 255 bytes, data over 65 535.
    case oversizedField
    /// More than one OPT record (RFC 6891 §6.1.1).
    case repeatedOPT
    /// A TSIG record that is not the last, or none (RFC 8945 §5.1).
    case misplacedTSIG
}
