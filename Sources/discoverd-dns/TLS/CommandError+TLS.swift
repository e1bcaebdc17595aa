#if Commands
internal import CommandFrame
internal import DiscoveryTLS

extension CommandError {
    /// What became of a connection with TLS.
    init(ofTLS error: any Error) {
        if let error = error as? CommandError {
            self = error
            return
        }
        guard let refusal = error as? PeerRefusal else {
            self.init(.ioError, "the connection was lost: it ended without a word, and something may be missing")
            return
        }
        self.init(ExitStatus(rawValue: refusal.exitStatus), refusal.headline, advice: refusal.advice)
    }
}
#endif
