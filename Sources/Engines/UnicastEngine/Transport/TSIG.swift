import DNSMessage

/// A request that is signed with a key, and the judgement of its answer (RFC 8945 §5). Times are in seconds since 1970.
package struct TSIG: Sendable {
    /// The number of seconds by which the clocks may differ (RFC 8945 §10).
    package static let fudge: UInt16 = 300

    /// The request on the wire, with its signature.
    package let request: [UInt8]
    private let key: TSIGKey
    private let requestMAC: [UInt8]

    /// Signs a written message.
    /// - Throws: `DNSFailure.impossible` if it has no room for the signature, or the package is built without the trait
    ///   `Unicast`.
    package init(signing message: [UInt8], with key: TSIGKey, at time: UInt64) throws(DNSFailure) {
        guard message.count >= 12 else { throw .impossible("no message") }
        let additionals = UInt16(message[10]) << 8 | UInt16(message[11])
        var signature = TransactionSignature(
            algorithm: key.algorithm.name, time: time, fudge: Self.fudge, mac: [],
            originalID: UInt16(message[0]) << 8 | UInt16(message[1]))
        guard let mac = key.mac(of: message + signature.variables(key: key.name)) else {
            throw .impossible("updates are signed only where the package is built with its trait Unicast")
        }
        signature.mac = mac
        let record = ResourceRecord(key.name, .tsig, .tsig(signature), ttl: 0, recordClass: .any)
        guard additionals < .max,
            let written = try? Message(additionals: [record]).written(compression: .unicast),
            message.count + written.count - 12 <= Message.maximumLength
        else { throw .impossible("the message is too long to be signed") }
        var request = message + written[12...]
        request[10] = UInt8(truncatingIfNeeded: (additionals + 1) >> 8)
        request[11] = UInt8(truncatingIfNeeded: additionals + 1)
        (self.request, self.key, requestMAC) = (request, key, mac)
    }

    /// The judgement of an answer's signature.
    package enum Verdict: Hashable, Sendable {
        /// The signature is valid. `error` is not 0 if the server refuses the request's signature; `serverTime` is its
        /// clock if it refuses the request's time.
        case trusted(error: UInt16, serverTime: UInt64?)
        /// There is no signature; `error` is the server's judgement of ours, if any.
        case unsigned(error: UInt16?)
        /// The signature is wrong, by another key, truncated, or too old.
        case forged
    }

    /// Judges an answer's signature.
    package func verify(_ answer: [UInt8], at time: UInt64) -> Verdict {
        let parts: SignedMessage
        do throws(MessageError) {
            guard let read = try SignedMessage(answer) else { return .unsigned(error: nil) }
            parts = read
        } catch {
            return .forged
        }
        let signature = parts.signature
        guard !signature.mac.isEmpty else { return .unsigned(error: signature.error) }
        // Unbound sends an unknown request back, together with our own signature.
        guard signature.mac != requestMAC else { return .unsigned(error: nil) }
        guard parts.key == key.name, signature.algorithm == key.algorithm.name,
            key.isMAC(
                signature.mac,
                of: requestMAC.counted + parts.unsigned + signature.variables(key: parts.key))
        else { return .forged }
        if signature.error == ResponseCode.badTime {
            // The answer has the time of the request; the server's own is in `other` (RFC 8945 §5.2.3).
            let clock = signature.other.count == 6 ? signature.other.reduce(0) { $0 << 8 | UInt64($1) } : nil
            return .trusted(error: signature.error, serverTime: clock)
        }
        let difference = max(time, signature.time) - min(time, signature.time)
        guard difference <= UInt64(signature.fudge) else { return .forged }
        return .trusted(error: signature.error, serverTime: nil)
    }
}

extension TSIGKey.Algorithm {
    /// The algorithm's name in a TSIG record (RFC 8945 §6).
    var name: DomainName { (try? DomainName(labels: [Array(rawValue.utf8)])) ?? .root }
}

extension TransactionSignature {
    /// Returns the TSIG variables, which are signed together with the message (RFC 8945 §4.3.3).
    fileprivate func variables(key: DomainName) -> [UInt8] {
        var bytes = key.canonicalWire
        bytes += RecordClass.any.rawValue.bytes + [0, 0, 0, 0]
        bytes += algorithm.canonicalWire
        bytes += (0..<6).reversed().map { UInt8(truncatingIfNeeded: time >> (8 * $0)) }
        return bytes + fudge.bytes + error.bytes + other.counted
    }
}

extension UInt16 {
    fileprivate var bytes: [UInt8] { [UInt8(self >> 8), UInt8(self & 0xFF)] }
}

extension [UInt8] {
    /// The bytes after their number in two bytes.
    fileprivate var counted: [UInt8] { UInt16(truncatingIfNeeded: count).bytes + self }
}
