/// What a TSIG record says (RFC 8945 §4.2): who signed a message, when, and the signature.
public struct TransactionSignature: Hashable, Sendable {
    /// How the signature was made, as a name: `hmac-sha256.`
    public var algorithm: DomainName
    /// When, in seconds since 1970; 48 bits on the wire.
    public var time: UInt64
    /// By how many seconds the receiver's clock may differ.
    public var fudge: UInt16
    /// The signature; empty where a server cannot or will not sign (RFC 8945 §5.3.2).
    public var mac: [UInt8]
    /// The id that the message was signed with.
    public var originalID: UInt16
    /// 0, or `ResponseCode.badSignature` and its like.
    public var error: UInt16
    /// The server's clock, 48 bits, with the error BADTIME; otherwise empty.
    public var other: [UInt8]

    /// A signature of these parts.
    public init(
        algorithm: DomainName, time: UInt64, fudge: UInt16, mac: [UInt8], originalID: UInt16, error: UInt16 = 0,
        other: [UInt8] = []
    ) {
        self.algorithm = algorithm
        self.time = time
        self.fudge = fudge
        self.mac = mac
        self.originalID = originalID
        self.error = error
        self.other = other
    }
}

/// A message on the wire, taken apart into what was signed and its signature.
public struct SignedMessage: Sendable {
    /// The message as it was before it was signed: without the TSIG record, with its original id (RFC 8945 §4.3.3).
    public let unsigned: [UInt8]
    /// The key's name.
    public let key: DomainName
    /// What the TSIG record says.
    public let signature: TransactionSignature

    /// Takes a message apart; nil where there is no TSIG record at its end.
    /// - Throws: What is wrong with the message; `.misplacedTSIG` for a TSIG record that is not the last (RFC 8945 §5.1).
    public init?(_ bytes: [UInt8]) throws(MessageError) {
        var reader = MessageReader(bytes)
        for _ in 0..<2 { _ = try reader.word() }
        let counts = [try reader.word(), try reader.word(), try reader.word(), try reader.word()]
        for _ in 0..<counts[0] { _ = try reader.question() }
        let records = counts[1...].reduce(0) { $0 + Int($1) }
        for number in 0..<records {
            let start = reader.index
            guard case .record(let record) = try reader.record(), record.type == .tsig else { continue }
            guard number == records - 1, counts[3] > 0, record.recordClass == .any, case .tsig(let read) = record.data
            else { throw .misplacedTSIG }
            var unsigned = Array(bytes[..<start])
            for (place, word) in [(0, read.originalID), (10, counts[3] - 1)] {
                unsigned[place] = UInt8(truncatingIfNeeded: word >> 8)
                unsigned[place + 1] = UInt8(truncatingIfNeeded: word)
            }
            (self.unsigned, key, signature) = (unsigned, record.name, read)
            return
        }
        return nil
    }
}
