/// What two machines say to each other so that both show the same `PairingCode`, and what their persons said of it.
///
/// A value for one side and one attempt, over a connection whose mutual handshake is finished: send what it returns, in order, and give it what
/// comes, in pieces of any length. Both sides commit before either number is revealed, in turns:
///
/// | from | bytes | |
/// |---|---|---|
/// | caller | 32 | its commitment |
/// | answerer | 32 | its commitment |
/// | caller | 32 | its random number |
/// | answerer | 32 | its random number; now both show the code |
/// | each | 1 | `y` or `n`: what its person says of it |
///
/// One in the middle has a key of his own towards each side, and must commit to his numbers before he sees theirs: the codes are equal with a
/// probability of 10⁻⁶ for each attempt. The answerer reveals last: as long as it shows the code before it sends its number, he cannot try one on it
/// without its person being asked. Anything out of turn ends the exchange.
public struct PairingExchange: Sendable {
    /// Which side this is.
    public enum Role: Hashable, Sendable {
        /// The caller.
        case caller
        /// The machine that was called.
        case answerer
    }

    /// What is to be done next.
    public enum Step: Hashable, Sendable {
        /// Send these bytes.
        case send([UInt8])
        /// Show the code, ask this side's person, and call `answer(_:)`.
        case compare(PairingCode)
        /// The other side's person has answered. Not to be shown before this side's has.
        case peerAnswered(Bool)
    }

    /// How an exchange ended.
    public enum Outcome: Hashable, Sendable {
        /// Both persons said yes: the key is the other person's machine's.
        case agreed
        /// This side's person said no.
        case refused
        /// The other side's person said no.
        case refusedByPeer
    }

    /// Why an exchange failed.
    public enum Failure: Error, Hashable, Sendable {
        /// The peer has this side's own key.
        case ownKey
        /// Bytes came before it was the peer's turn.
        case early
        /// Bytes came after the peer's last ones.
        case extra
        /// The peer's commitment is this side's own.
        case reflected
        /// The number is not the one that the peer committed to.
        case uncommitted
        /// Neither yes nor no.
        case noAnswer
        /// The connection ended before the exchange did.
        case cut
        /// It was over already.
        case over
    }

    /// The length of a commitment and of a random number, in bytes.
    static let length = PairingCode.nonceLength
    private static let yes = UInt8(ascii: "y")
    private static let no = UInt8(ascii: "n")

    private enum State: Hashable, Sendable {
        /// The caller has said nothing yet.
        case unstarted
        case awaitsCommitment
        case awaitsNumber(of: [UInt8])
        case awaitsAnswers
        case over
    }

    private let role: Role
    private let own: PairingCode.Side
    private let peer: KeyFingerprint
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private var state: State
    /// The peer's current message, as far as it has come.
    private var heard: [UInt8] = []
    private var ownAnswer: Bool?
    private var peerAnswer: Bool?

    /// Begins an attempt; draws this side's number.
    /// - Parameters:
    ///   - role: the caller's, or the answerer's.
    ///   - own: this side's key, as the handshake showed it to the peer.
    ///   - peer: the peer's key, as the handshake has proven it.
    ///   - digest: SHA-256.
    ///   - random: must not be predictable; the system's is not.
    /// - Throws: `Failure.ownKey`.
    public init(
        _ role: Role, own: KeyFingerprint, peer: KeyFingerprint, digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        random: some RandomNumberGenerator = SystemRandomNumberGenerator()
    ) throws(Failure) {
        guard own != peer else { throw .ownKey }
        var random = random
        let nonce = (0..<PairingCode.nonceLength).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        self.role = role
        self.own = PairingCode.Side(key: own, nonce: nonce)
        self.peer = peer
        self.digest = digest
        state = role == .caller ? .unstarted : .awaitsCommitment
    }

    /// How it ended; nil while it goes on, and if it failed.
    public var outcome: Outcome? {
        if ownAnswer == false { return .refused }
        if peerAnswer == false { return .refusedByPeer }
        return ownAnswer == true && peerAnswer == true ? .agreed : nil
    }

    /// Begins. The answerer has nothing to send at first.
    public mutating func start() -> [Step] {
        guard state == .unstarted else { return [] }
        state = .awaitsCommitment
        return [.send(commitment)]
    }

    /// Takes bytes of the peer.
    /// - Throws: why the exchange failed. It has ended: close the connection.
    public mutating func received(_ bytes: some Sequence<UInt8>) throws(Failure) -> [Step] {
        var steps: [Step] = []
        for byte in bytes {
            do throws(Failure) {
                // In one piece with what this side answers only now.
                guard !steps.contains(where: \.isSending) else { throw .early }
                steps += try take(byte)
            } catch {
                state = .over
                throw error
            }
        }
        return steps
    }

    /// Says what this side's person answered, once, after `Step.compare`.
    public mutating func answer(_ isSame: Bool) -> [Step] {
        guard state == .awaitsAnswers, ownAnswer == nil else { return [] }
        ownAnswer = isSame
        return [.send([isSame ? Self.yes : Self.no])]
    }

    /// The connection has ended.
    /// - Throws: `Failure.cut` where the exchange had not.
    public mutating func ended() throws(Failure) {
        state = .over
        if outcome == nil { throw .cut }
    }

    private var commitment: [UInt8] { PairingCode.commitment(to: own, digest: digest) }

    private mutating func take(_ byte: UInt8) throws(Failure) -> [Step] {
        switch state {
        case .unstarted: throw .early
        case .over: throw .over
        case .awaitsAnswers: return try take(answer: byte)
        case .awaitsCommitment, .awaitsNumber: break
        }
        heard.append(byte)
        guard heard.count == Self.length else { return [] }
        let message = heard
        heard = []
        if case .awaitsNumber(let commitment) = state { return try take(number: message, of: commitment) }
        guard message != commitment else { throw .reflected }
        state = .awaitsNumber(of: message)
        return [.send(role == .caller ? own.nonce : commitment)]
    }

    private mutating func take(number: [UInt8], of commitment: [UInt8]) throws(Failure) -> [Step] {
        let other = PairingCode.Side(key: peer, nonce: number)
        guard PairingCode.commitment(to: other, digest: digest) == commitment else { throw .uncommitted }
        state = .awaitsAnswers
        let code =
            role == .caller
            ? PairingCode(caller: own, answerer: other, digest: digest)
            : PairingCode(caller: other, answerer: own, digest: digest)
        return role == .caller ? [.compare(code)] : [.compare(code), .send(own.nonce)]
    }

    private mutating func take(answer: UInt8) throws(Failure) -> [Step] {
        guard peerAnswer == nil else { throw .extra }
        guard answer == Self.yes || answer == Self.no else { throw .noAnswer }
        peerAnswer = answer == Self.yes
        return [.peerAnswered(answer == Self.yes)]
    }
}

extension PairingExchange.Step {
    fileprivate var isSending: Bool { if case .send = self { true } else { false } }
}

extension PairingExchange.Failure: CustomStringConvertible {
    /// For people; ends a sentence.
    public var description: String {
        switch self {
        case .ownKey: "the other side has this machine's own key"
        case .early: "the other side spoke before its turn"
        case .extra: "the other side said more than belongs to a pairing"
        case .reflected: "the other side sent back what this one had said"
        case .uncommitted: "the other side's number is not the one that it had committed to"
        case .noAnswer: "the other side said neither yes nor no"
        case .cut: "the other side ended the connection"
        case .over: "it was over already"
        }
    }
}

/// The six digits by which two people see that nobody is between their machines.
///
/// Each side draws a random number and commits to it before it sees the other's: the code follows from both numbers and both keys, so one
/// in the middle, who has a key of his own towards each side, can choose neither code. That both are equal has a probability of 10⁻⁶ for each
/// attempt.
public struct PairingCode: Hashable, Sendable, CustomStringConvertible {
    /// The length of a side's random number in bytes.
    public static let nonceLength = 32
    /// How many codes there are.
    static let count: UInt64 = 1_000_000

    /// What each side puts into the code.
    public struct Side: Hashable, Sendable {
        /// Its key, as the finished handshake shows it.
        public var key: KeyFingerprint
        /// Its random number.
        public var nonce: [UInt8]

        /// Creates a side.
        public init(key: KeyFingerprint, nonce: [UInt8]) {
            self.key = key
            self.nonce = nonce
        }
    }

    private let value: UInt64

    /// - Parameters:
    ///   - caller: the caller's.
    ///   - answerer: the answerer's.
    ///   - digest: SHA-256.
    public init(caller: Side, answerer: Side, digest: ([UInt8]) -> [UInt8]) {
        let bytes = digest(
            Array("discoverd pairing code 1\n".utf8) + caller.key.bytes + answerer.key.bytes + caller.nonce
                + answerer.nonce)
        // 64 bits: the remainder favours no code by more than 10⁻¹³.
        value = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % Self.count
    }

    /// What a side sends before it sees the other's number.
    public static func commitment(to side: Side, digest: ([UInt8]) -> [UInt8]) -> [UInt8] {
        digest(Array("discoverd pairing commitment 1\n".utf8) + side.key.bytes + side.nonce)
    }

    /// `123 456`.
    public var description: String {
        let digits = String(value)
        let padded = String(repeating: "0", count: 6 - digits.count) + digits
        return "\(padded.prefix(3)) \(padded.suffix(3))"
    }
}
