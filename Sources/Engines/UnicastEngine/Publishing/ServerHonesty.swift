import DNSMessage
import DNSSD

/// What is known of how the server's answers and its zone fit.
///
/// Some servers answer NOERROR to what they leave out, and hold names for which they answer no question. PowerDNS does both: its policies
/// (lua-dnsupdate-policy-script) are no answer to an update, and it knows names of a few characters alone.
struct ServerHonesty: Sendable {
    private enum Proof: Sendable {
        case missing
        /// A service is looked for; what the server has acknowledged meanwhile waits, with its version.
        case underWay(waiting: [Int: Int])
        /// A service was looked for after the server had said that it is there: it was, with all that it needs.
        case found
    }

    private enum Names: Sendable {
        case unknown
        /// It has answered a question for a name of uncommon characters.
        case answered
        /// It fails to answer one, though it answers others.
        case failing
    }

    private var proof = Proof.missing
    private var names = Names.unknown
    /// How often in a row something was not there.
    private var omissions = 0
    /// How often in a row the lease was not there although the server had just said that it has it.
    private var leaseOmissions = 0

    var isProven: Bool { if case .found = proof { true } else { false } }
    var failsForNames: Bool { if case .failing = names { true } else { false } }

    /// Returns whether the server must be asked whether it answers questions for a name.
    func doubts(_ name: DomainName) -> Bool {
        if case .answered = names { return false }
        return !name.isCommon
    }

    // MARK: Proof

    /// The server says that it has these.
    /// - Returns: whether to look for one of them; otherwise they wait for the look that is under way.
    mutating func claims(_ versions: [Int: Int]) -> Bool {
        guard case .underWay(let waiting) = proof else {
            proof = .underWay(waiting: [:])
            return true
        }
        proof = .underWay(waiting: waiting.merging(versions) { $1 })
        return false
    }

    /// The look is over.
    /// - Returns: what waited for it.
    mutating func looked() -> [Int: Int] {
        guard case .underWay(let waiting) = proof else { return [:] }
        proof = .missing
        return waiting
    }

    mutating func found() { (proof, omissions) = (.found, 0) }

    /// Something was not there.
    /// - Returns: whether that is refused: once it may have been taken back meanwhile.
    mutating func missed() -> Bool {
        // What is left out again is refused the first time.
        defer { omissions = 1 }
        return omissions > 0
    }

    /// The lease was not there.
    /// - Returns: whether that is refused.
    mutating func missedLease() -> Bool {
        leaseOmissions += 1
        guard leaseOmissions > 1 else { return false }
        leaseOmissions = 0
        return true
    }

    mutating func foundLease() { leaseOmissions = 0 }

    // MARK: Names

    mutating func answeredForName() { names = .answered }

    /// - Parameter wasAlready: whether it has failed for this name before. It may fail for a moment, whatever the name.
    /// - Returns: whether it is held to fail for such names.
    mutating func failedForName(_ wasAlready: Bool) -> Bool {
        guard failsForNames || wasAlready else { return false }
        names = .failing
        return true
    }
}

extension DomainName {
    /// Whether every server answers questions for it: others than these bytes PowerDNS calls malformed.
    var isCommon: Bool {
        labels.allSatisfy { label in
            label.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: " -_.:/@*\\".utf8.contains(byte)
                }
            }
        }
    }
}
