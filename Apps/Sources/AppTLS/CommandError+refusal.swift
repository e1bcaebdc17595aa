public import CommandFrame
public import DiscoveryTLS

extension CommandError {
    /// Why two machines do not talk with each other, with the statuses of `discoverd connect --tls`.
    public init(_ refusal: PeerRefusal) {
        self.init(ExitStatus(rawValue: refusal.exitStatus), refusal.headline, advice: refusal.advice)
    }
}
