#if Commands
internal import CommandFrame
internal import DiscoveryTLS
internal import PeerIdentity

extension CommandError {
    /// What became of a connection with TLS.
    /// - Parameter own: this machine, which was refused by who was dialled; nil where it was not the caller.
    init(ofTLS error: any Error, to own: MachineIdentity? = nil) {
        if let error = error as? CommandError {
            self = error
            return
        }
        guard let refusal = error as? PeerRefusal else {
            self.init(.ioError, "the connection was lost: it ended without a word, and something may be missing")
            return
        }
        var advice = refusal.advice
        if refusal == .refusedByPeer, let own, !own.label.isEmpty {
            advice = [
                "If it does not know this machine's key, there:",
                "  discoverd known add \(PeerName.label(own.label).quotedForShell) \(own.fingerprint)",
            ]
        }
        self.init(ExitStatus(rawValue: refusal.exitStatus), refusal.headline, advice: advice)
    }
}
#endif
