/// What is learned of a service apart from where it is: the part that what a finder reports (`Resolution`) and what a program sees
/// (`DiscoveredService`) have in common. docs/architecture.md shows what a new field takes.
package struct ServiceAnswer: Hashable, Sendable {
    /// The TXT record; empty if not resolved.
    package var txt: TXTRecord
    /// Whether DNSSEC vouches for all that was answered.
    package var isAuthenticated: Bool
    /// Why there is no address, for people, if a resolver withholds the addresses; otherwise nil.
    package var withheld: String?

    /// Creates a value.
    package init(txt: TXTRecord = TXTRecord(), isAuthenticated: Bool = false, withheld: String? = nil) {
        self.txt = txt
        self.isAuthenticated = isAuthenticated
        self.withheld = withheld
    }

    /// What the answers from several origins say together; the first counts most.
    package init(joining answers: [ServiceAnswer]) {
        self.init(
            txt: answers.first?.txt ?? TXTRecord(),
            isAuthenticated: !answers.isEmpty && answers.allSatisfy(\.isAuthenticated),
            withheld: answers.lazy.compactMap(\.withheld).first)
    }
}

extension DiscoveredService {
    /// The TXT record; empty if not resolved.
    public var txt: TXTRecord {
        get { answer.txt }
        set { answer.txt = newValue }
    }

    /// Whether DNSSEC vouches for its host, port, TXT record and addresses, according to a validating resolver that is
    /// on this machine or that /etc/resolv.conf trusts (`trust-ad`).
    public var isAuthenticated: Bool {
        get { answer.isAuthenticated }
        set { answer.isAuthenticated = newValue }
    }

    /// Why it has no address, for people, if a DNS resolver withholds its addresses; otherwise nil.
    public var withheld: String? {
        get { answer.withheld }
        set { answer.withheld = newValue }
    }
}
