#if TLS
internal import Libc
public import PeerIdentity
internal import DiscoverySystem

/// Where the key of a machine, or of a user, and the keys that it knows are. `discoverd` and the programs share it.
public struct IdentityDirectory: Sendable {
    /// The path; the directory need not be there.
    public let path: String

    /// A directory.
    public init(path: String) { self.path = path }

    /// `$STATE_DIRECTORY`, else `/var/lib/discoverd-root` for root, and `$XDG_STATE_HOME/discoverd` or `~/.local/state/discoverd` for others.
    /// - Throws: where the environment names none.
    public init() throws(MachineIdentity.Failure) {
        guard let path = Environment.stateDirectory else {
            throw MachineIdentity.Failure(
                description: "there is no place for this machine's key: no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        self.path = path
    }

    /// The keys that are known.
    public var known: KnownPeersFile { KnownPeersFile(path: "\(path)/\(KnownPeersFile.name)").withHashes }

    /// The identity: a credential of systemd where the service has one, else the directory's, made at first use. It calls itself by the machine's
    /// name, and for users `anna@h1`.
    /// - Throws: where the file can be neither read nor made, or others may read it.
    public func identity() throws(MachineIdentity.Failure) -> MachineIdentity {
        if let credential { return try MachineIdentity(file: credential) }
        return try MachineIdentity(directory: path, label: Self.label)
    }

    /// The file of the identity; it need not be there.
    public var identityPath: String { credential ?? "\(path)/\(MachineIdentity.fileName)" }

    /// The credential of systemd, where the service has one.
    private var credential: String? {
        guard let credentials = Environment.directory("CREDENTIALS_DIRECTORY") else { return nil }
        let path = "\(credentials)/\(MachineIdentity.fileName)"
        return access(path, F_OK) == 0 || errno != ENOENT ? path : nil
    }

    private static var label: String {
        let host = Environment.hostLabel ?? "unnamed"
        return geteuid() == 0 ? host : "\(Accounts.userName(of: geteuid()) ?? String(geteuid()))@\(host)"
    }
}
#endif
