#if Commands
internal import ArgumentParser
internal import CommandFrame
internal import DNSSD
internal import PeerIdentity
internal import DiscoverySystem

/// The files of known keys in a user's state directory; all are of one format.
enum KnownFile: String, CaseIterable, ExpressibleByArgument {
    case knownPeers = "known_peers"
    case lastKeys = "last_keys"
    /// Whose files `filedrop receive` takes, and who gets those of `filedrop offer`, without a question.
    case senders = "filedrop_senders"
    case fetchers = "filedrop_fetchers"

    /// The file of this user, which need not be there.
    /// - Parameter hmac: finds and writes hashed names.
    func path(_ hmac: HashedName.HMAC? = nil) throws -> KnownPeersFile {
        guard let directory = Environment.stateDirectory else {
            throw CommandError(.badConfiguration, "there is no $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        if let problem = SystemFile.makeDirectory(directory) {
            throw CommandError(.badConfiguration, problem.description.escapedForTerminal)
        }
        return KnownPeersFile(path: "\(directory)/\(rawValue)", hmac: hmac)
    }

    /// Its names are hashed; false where that cannot be said: then it cannot be changed either.
    var isHashed: Bool { (try? path().read().isHashed) ?? false }
}

/// Which file is shown or changed.
struct KnownFileOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Another file than known_peers: last_keys, filedrop_senders or filedrop_fetchers.", valueName: "file"))
    var file = KnownFile.knownPeers
}
#endif
