import DNSMessage

/// An update that was sent, until a trusted answer comes.
struct PendingUpdate: Sendable {
    /// How long to wait for a signed answer after an unsigned one.
    static let patience = Duration.seconds(1)

    /// The judgement of a message.
    enum Outcome: Hashable, Sendable {
        case done(UpdateAnswer)
        /// The answer is not signed; a signed one may still come.
        case hint
        /// The message is not an answer to this update.
        case foreign
    }

    /// The message on the wire.
    let request: [UInt8]
    /// What an answer without a valid signature was, if there was one.
    enum Suspect: Hashable, Sendable {
        /// The first unsigned answer.
        case hint(UpdateAnswer)
        /// An answer with a wrong signature, and none without.
        case forgery
    }

    private(set) var suspect: Suspect?
    private let id: UInt16
    private let zone: [Question]
    private let signer: TSIG?

    /// Writes and signs an update.
    /// - Parameters:
    ///   - update: the update.
    ///   - id: its id.
    ///   - key: the key that signs it; nil for none.
    ///   - time: this machine's clock, in seconds since 1970.
    /// - Throws: `DNSFailure.impossible` if it cannot be written or signed.
    init(_ update: Message, id: UInt16, key: TSIGKey?, at time: UInt64) throws(DNSFailure) {
        var update = update
        update.id = id
        guard let written = try? update.written(compression: .unicast) else {
            throw .impossible("an update must fit in 65535 bytes")
        }
        signer = if let key { try TSIG(signing: written, with: key, at: time) } else { nil }
        request = signer?.request ?? written
        (self.id, zone) = (id, update.questions)
    }

    /// Judges a message. Times are in seconds since 1970.
    mutating func receive(_ bytes: [UInt8], at time: UInt64) -> Outcome {
        guard let answer = try? Message(reading: bytes), answer.id == id, answer.flags.contains(.response),
            answer.opcode == Message.updateOpcode, answer.questions.isEmpty || answer.questions == zone
        else { return .foreign }
        guard let signer else { return .done(UpdateAnswer(responseCode: answer.responseCode)) }
        switch signer.verify(bytes, at: time) {
        case .trusted(let error, let serverTime):
            return .done(
                UpdateAnswer(
                    responseCode: answer.responseCode, signatureError: error == 0 ? nil : error,
                    serverTime: serverTime))
        case .unsigned(let error):
            if case .hint = suspect { return .hint }
            suspect = .hint(
                UpdateAnswer(responseCode: answer.responseCode, signatureError: error, isTrusted: false))
            return .hint
        case .forged:
            suspect = suspect ?? .forgery
            return .foreign
        }
    }
}
