import DNSMessage

/// An update that was sent, until an answer to it is believed.
struct PendingUpdate: Sendable {
    /// How long a signed answer is waited for after one that says, unsigned, that it failed.
    static let patience = Duration.seconds(1)

    /// What an answer comes to.
    enum Outcome: Hashable, Sendable {
        case done(UpdateAnswer)
        /// Not signed: a hint, while a signed one may still come.
        case hint
        /// None of ours.
        case foreign
    }

    /// The message on the wire.
    let request: [UInt8]
    /// What was said without a signature, first.
    private(set) var hint: UpdateAnswer?
    /// Answers came whose signature is wrong.
    private(set) var sawForgery = false
    private let id: UInt16
    private let zone: [Question]
    private let signer: TSIG?

    /// - Throws: `DNSFailure.impossible` when it cannot be written or signed.
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

    /// Judges what came. Times are seconds since 1970.
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
            if hint == nil {
                hint = UpdateAnswer(responseCode: answer.responseCode, signatureError: error, isTrusted: false)
            }
            return .hint
        case .forged:
            sawForgery = true
            return .foreign
        }
    }
}
