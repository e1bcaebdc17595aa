#if TLS
public import PeerIdentity
internal import DiscoverySystem

extension PeerTrust {
    /// What the configuration of this machine or user says, the file `trust` of docs/identity.md; `known` where it says nothing.
    /// - Throws: where the file cannot be read, makes no sense, or others may write it.
    public static func configured() throws(TrustFile.Failure) -> PeerTrust {
        try TrustFile.trust(in: Environment.configurationDirectories) ?? .known
    }
}
#endif
